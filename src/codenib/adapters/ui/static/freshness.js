// Freshness: the views and how they stand, the last updates and what each derived anew and why, and what happens now.

import { codeAddress, html, liveLog, milliseconds, number, size, useAsk, useLive, visible } from "./lib.js";
import { Chip, Problem } from "./parts.js";

export function FreshnessPage({ repository }) {
  const { data, error, waiting } = useAsk(repository, "status", {});
  return html`<main id="main" class="wrap">
    <h1>Freshness</h1>
    ${error && !waiting && html`<${Problem} error=${error} />`}
    ${data && html`<${Standing} data=${data} /><${Views} data=${data} />`}
    <div class="two wide">
      <${Updates} repository=${repository} />
      <${Feed} repository=${repository} />
    </div>
  </main>`;
}

function Standing({ data }) {
  const lag = [
    [data.added, "added"],
    [data.changed, "changed"],
    [data.removed, "removed"],
  ].filter(([count]) => count);
  const words = {
    fresh: "The views are those of the files as they are now.",
    stale: "Files differ from what the views were built from.",
    absent: "Nothing is indexed yet.",
  };
  return html`<p><span class=${`dot ${data.freshness.state}`} aria-hidden="true"></span>${words[data.freshness.state]} ${lag.length > 0 && html`<b>${lag.map(([count, word]) => `${number(count)} ${word}`).join(", ")}</b>`}
    <span class="dim"> ${number(data.files)} files at <code>${(data.snapshot.commit ?? data.snapshot.id).slice(0, 10)}</code>${data.snapshot.dirty ? " with edits" : ""} · ${number(data.manifests)} snapshots are published · ${size(data.size_bytes)} here, ${size(data.shared_bytes)} shared with other repositories</span></p>`;
}

const COUNTED = ["files", "units", "documents", "commits", "nodes", "edges", "occurrences"];

function Views({ data }) {
  const longest = Math.max(0.001, ...data.items.map((view) => view.seconds));
  const largest = Math.max(1, ...data.items.map((view) => view.size_bytes));
  return html`<table class="views"><caption class="hidden">The views of this repository</caption>
    <thead><tr><th scope="col">view</th><th scope="col">status</th><th scope="col">snapshot</th><th scope="col">holds</th><th scope="col">size</th><th scope="col">time to make it</th></tr></thead>
    <tbody>${data.items.map(
      (view) => html`<tr key=${view.kind}>
        <th scope="row">${view.kind}</th>
        <td><span class=${`dot ${view.status}`} aria-hidden="true"></span>${view.status}${view.how ? html` <span class="dim">${view.how}</span>` : null}${view.error && html`<div class="note">${visible(view.error)}</div>`}</td>
        <td><code>${view.snapshot.slice(0, 8)}</code> ${view.snapshot !== data.snapshot.id ? html`<span class="note-inline">behind</span>` : null}</td>
        <td class="dim">${COUNTED.filter((name) => view.counts[name])
          .slice(0, 3)
          .map((name) => `${number(view.counts[name])} ${name}`)
          .join(", ")}</td>
        <td><meter min="0" max=${largest} value=${view.size_bytes} aria-label=${size(view.size_bytes)}></meter> ${size(view.size_bytes)}</td>
        <td><meter min="0" max=${longest} value=${view.seconds} aria-label=${milliseconds(view.seconds)}></meter> ${milliseconds(view.seconds)}</td>
      </tr>`,
    )}</tbody></table>`;
}

function Updates({ repository }) {
  const { data, error } = useAsk(repository, "updates", { k: 6 });
  return html`<section aria-labelledby="updates"><h2 id="updates">Last updates</h2>
    ${error && html`<p class="note">${visible(error.message)}</p>`}
    ${data && !data.items.length && html`<p class="quiet">None yet.</p>`}
    <ol class="updates">${(data?.items ?? []).map((each) => html`<${Update} key=${each.snapshot.id} repository=${repository} update=${each} />`)}</ol>
  </section>`;
}

const HOW = { built: "built", maintained: "maintained", reused: "taken over" };

function Update({ repository, update }) {
  const done = update.graph_update;
  return html`<li>
    <p><code>${update.snapshot.id.slice(0, 8)}</code> <span class="dim">${(update.snapshot.commit ?? "no commit").slice(0, 8)}${update.snapshot.dirty ? " with edits" : ""} · used <time datetime=${update.used}>${new Date(update.used).toLocaleTimeString("en-GB")}</time></span></p>
    <p class="kinds">${update.views.map((view) => html`<${Chip} key=${view.kind} kind=${view.status === "fresh" ? view.how : "syntactic"} title=${view.error}>${view.kind}: ${view.status === "fresh" ? `${HOW[view.how] ?? view.how}, ${milliseconds(view.seconds)}` : view.status}<//>`)}</p>
    ${done && html`<${GraphUpdate} repository=${repository} done=${done} />`}
  </li>`;
}

const CHANGES = ["deleted", "affected", "added", "shifted", "unchanged"];

/** The classification of an edit: each declaration of the changed files, and the files that were asked for again. */
function GraphUpdate({ repository, done }) {
  const files = new Map();
  for (const each of done.symbols) files.set(each.path, [...(files.get(each.path) ?? []), each]);
  return html`<div class="graph-update">
    ${[...files].slice(0, 4).map(([path, symbols]) => {
      const counts = CHANGES.map((change) => [
        change,
        symbols.filter((each) => each.change === change).length,
      ]).filter(([, count]) => count);
      const told = symbols.filter((each) => each.change !== "unchanged");
      return html`<div key=${path}><p><a href=${codeAddress(repository, path)}>${visible(path)}</a> <span class="dim">${counts.map(([change, count]) => `${number(count)} ${change}`).join(", ")}</span></p>
        <div class="strip" role="img" aria-label=${`The declarations of ${visible(path)} in order: ${counts.map(([change, count]) => `${count} ${change}`).join(", ")}`}>${symbols.slice(0, 240).map((each, at) => html`<span key=${at} class=${`cell ${each.change}`} title=${`${each.change} ${each.kind} ${visible(each.symbol)}${each.by ? ` by ${each.by} lines` : ""}`}></span>`)}</div>
        <ul class="told">${told
          .filter((each) => each.change !== "shifted")
          .slice(0, 6)
          .map(
            (each) =>
              html`<li key=${each.symbol + each.line}><span class=${`cell ${each.change}`} aria-hidden="true"></span> ${each.change} ${each.kind} <a href=${codeAddress(repository, path, each.line)}><code>${visible(each.symbol)}</code></a></li>`,
          )}</ul></div>`;
    })}
    ${files.size > 4 && html`<p class="dim">… and ${number(files.size - 4)} more changed files</p>`}
    ${done.groups
      .filter((group) => group.how !== "kept")
      .map(
        (
          group,
        ) => html`<div key=${group.group}><p><b>${group.group}</b>: ${group.how === "followed" ? `${number(group.rederived.length)} of ${number(group.files)} files were derived anew` : `${group.how}${group.why ? `: ${visible(group.why)}` : ""}`} <span class="dim">in ${milliseconds(group.seconds)}, ${number(group.resolved)} occurrences resolved, ${number(group.moved)} taken over; ${group.confidence}</span></p>
        <ul class="told">${group.rederived.slice(0, 8).map((each) => html`<li key=${each.path}><a href=${codeAddress(repository, each.path)}>${visible(each.path)}</a> <span class="dim">${visible(each.why)}</span></li>`)}</ul>
        ${group.rederived.length > 8 && html`<p class="dim">… and ${number(group.rederived.length - 8)} more</p>`}</div>`,
      )}
    ${done.broken.length > 0 && html`<p class="note">does not parse: ${done.broken.map(visible).join(", ")}</p>`}
    <p class="legend">${CHANGES.map((change) => html`<span key=${change}><span class=${`cell ${change}`} aria-hidden="true"></span>${change}</span>`)}</p>
  </div>`;
}

function Feed({ repository }) {
  const live = useLive(repository);
  const log = liveLog(repository);
  return html`<section aria-labelledby="feed"><h2 id="feed">Now</h2>
    <p class="dim">${live.online ? `The server is ${live.state}${live.watching ? " and watches every folder" : ", and looks at the files every two seconds"}.` : "The server does not answer."}</p>
    <ol class="feed" aria-live="polite">${log.map((line, at) => html`<li key=${log.length - at}><time class="dim">${line.at.toLocaleTimeString("en-GB")}</time> ${visible(line.what)}</li>`)}</ol>
    ${!log.length && html`<p class="quiet">Nothing has happened since this page was opened. Edit a file.</p>`}
  </section>`;
}
