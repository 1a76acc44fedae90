// Runs: an agent's trace as a timeline, a server's calls, studies with their tables and figures, two beside each other.

import {
  address,
  ask,
  codeAddress,
  go,
  html,
  milliseconds,
  number,
  useEffect,
  useState,
  visible,
} from "./lib.js";
import { Chip, Problem } from "./parts.js";

function useRun(kind, path) {
  const [state, set] = useState({ data: null, error: null });
  useEffect(() => {
    const control = new AbortController();
    set({ data: null, error: null });
    if (kind)
      ask("", `runs/${kind}`, { path }, control.signal).then(
        (data) => set({ data, error: null }),
        (error) => error.name !== "AbortError" && set({ data: null, error }),
      );
    return () => control.abort();
  }, [kind, path]);
  return state;
}

export function RunsPage({ repository, params }) {
  const { data, error } = useRun("list", "");
  const choose = (more) => go(address(repository, "runs", "", { ...params, ...more }));
  const kindOf = (path) => data?.items.find((each) => each.path === path)?.kind;
  return html`<main id="main" class="wrap runs">
    <h1>Runs</h1>
    ${error && html`<${Problem} error=${error} />`}
    ${data && !data.items.length && html`<p class="quiet">No runs are here. Start the page with <code>codenib ui --runs FOLDER</code>: traces of <code>codenib agent --trace</code>, run folders of <code>codenib eval</code>, logs of <code>codenib serve --log-format json</code>.</p>`}
    ${
      data?.items.length > 0 &&
      html`<div class="filters"><${Pick} label="run" value=${params.run} items=${data.items} onChange=${(run) => choose({ run })} /><${Pick} label="beside" value=${params.beside} items=${data.items} onChange=${(beside) => choose({ beside })} /></div>
      ${params.run && params.beside && kindOf(params.run) === "study" && kindOf(params.beside) === "study" ? html`<${Compared} one=${params.run} other=${params.beside} />` : null}
      <div class=${params.beside ? "two" : ""}>${[params.run, params.beside].filter(Boolean).map((path) => html`<section key=${path} aria-label=${visible(path)}><${Run} repository=${repository} kind=${kindOf(path)} path=${path} /></section>`)}</div>
      ${!params.run && html`<ul class="folder">${data.items.map((each) => html`<li key=${each.path}><a href=${address(repository, "runs", "", { run: each.path })}>${visible(each.path)}</a><span class="dim">${visible(each.about)}</span></li>`)}</ul>`}`
    }
  </main>`;
}

function Pick({ label, value, items, onChange }) {
  return html`<label class="choice">${label} <select value=${value ?? ""} onChange=${(event) => onChange(event.target.value)}><option value="">none</option>${items.map((each) => html`<option key=${each.path} value=${each.path}>${visible(each.path)}</option>`)}</select></label>`;
}

function Run({ repository, kind, path }) {
  const { data, error } = useRun(kind, path);
  if (error) return html`<${Problem} error=${error} />`;
  if (!data) return html`<p class="quiet">Reading…</p>`;
  if (kind === "trace") return html`<${Trace} repository=${repository} trace=${data} />`;
  if (kind === "calls") return html`<${Log} log=${data} />`;
  return html`<${Study} path=${path} study=${data} />`;
}

// ---- an agent's run

function Trace({ repository, trace }) {
  const { run, usage } = trace;
  const end = Math.max(trace.seconds, 0.001);
  return html`
    <h2>${visible(
      String(run.query ?? run.issue ?? "An agent's run")
        .split("\n")[0]
        .slice(0, 160),
    )}</h2>
    <p class="claim"><${Chip}>${visible(`${run.provider}:${run.model}`)}<//><span>policy ${visible(String(run.policy))}</span><span>${milliseconds(trace.seconds)}</span><span>${number(trace.items.length)} events</span>
      ${usage && html`<span>${number((usage.prompt ?? 0) + (usage.completion ?? 0))} tokens, ${number(usage.invocations ?? 0)} invocations</span>`}</p>
    <ol class="trace">${trace.items.map((event) => html`<${Event} key=${event.seq} repository=${repository} event=${event} end=${end} />`)}</ol>`;
}

function Event({ repository, event, end }) {
  const [words, detail, tone] = tell(event);
  const took = event.data.seconds ?? 0;
  const start = Math.max(0, event.at - took);
  return html`<li class=${tone}>
    <span class="dim when">${event.at.toFixed(2)} s</span>
    <span class="track" aria-hidden="true"><span class="span" style=${{ left: `${(100 * start) / end}%`, width: `${Math.max(0.5, (100 * took) / end)}%` }}></span></span>
    <span class="what"><b>${event.kind}</b> ${visible(words)}${detail && html`<span class="dim"> ${visible(detail)}</span>`}${event.kind === "answer" && html`<${Located} repository=${repository} places=${event.data.located?.locations ?? []} />`}</span>
  </li>`;
}

function Located({ repository, places }) {
  return html`<ul class="told">${places.map((each, at) => html`<li key=${at}><a href=${codeAddress(repository, each.path, `${each.start_line}-${each.end_line}`)}>${visible(each.path)}:${each.start_line}</a> ${visible(each.symbol ?? "")}</li>`)}</ul>`;
}

/** An event in words, what else is to say, and its tone. */
function tell({ kind, data }) {
  const tokens = (usage) =>
    usage ? `${number(usage.prompt ?? 0)} + ${number(usage.completion ?? 0)} tokens` : "no usage";
  const by = {
    candidates: () => [
      `${data.items?.length ?? 0} of ${data.total}`,
      `by the ${data.plan?.route} route`,
      "policy",
    ],
    decision: () => [`${data.about}: ${data.yes ? "yes" : "no"}`, data.why, "policy"],
    rewrite: () => [`the history is now ${data.history?.length ?? 0} messages`, data.reason, "policy"],
    invoke: () => [`number ${data.number}`, `${data.purpose}, ${data.messages} messages`, "model"],
    reply: () => [tokens(data.usage), `${data.seconds?.toFixed(1)} s, ${data.stop}`, "model"],
    tool: () => [
      data.name,
      data.failed
        ? "failed"
        : `${data.total} in all${data.provider ? ` by ${data.provider}` : ""}, ${milliseconds(data.seconds ?? 0)}`,
      data.failed ? "bad" : "tool",
    ],
    retry: () => [data.why, `again in ${data.wait_s} s`, "bad"],
    warning: () => [data.text, "", "bad"],
    error: () => [data.error, data.message, "bad"],
    answer: () => [data.answer?.summary ?? "no answer", "", "good"],
    end: () => [data.stop, `${data.turns} turns, ${number(data.total ?? 0)} tokens`, "good"],
  };
  const told = by[kind]?.() ?? [JSON.stringify(data).slice(0, 200), "", ""];
  return [String(told[0] ?? ""), String(told[1] ?? ""), told[2]];
}

// ---- a server's calls

function Log({ log }) {
  const longest = Math.max(1, ...log.items.map((each) => each.ms ?? 0));
  return html`<h2>${number(log.total)} lines</h2><table><caption class="hidden">Calls of a server</caption><thead><tr><th scope="col">time</th><th scope="col">what</th><th scope="col">took</th></tr></thead>
    <tbody>${log.items.slice(-400).map((each, at) => html`<tr key=${at}><td class="dim">${each.time.slice(11, 23)}</td><td>${visible(each.message)} ${each.status ? html`<span class="dim">${each.status}</span>` : null}</td><td>${each.ms == null ? "" : html`<meter min="0" max=${longest} value=${each.ms} aria-label=${`${each.ms} ms`}></meter> ${each.ms} ms`}</td></tr>`)}</tbody></table>
    ${log.items.length > 400 && html`<p class="dim">The last 400 of ${number(log.items.length)}.</p>`}`;
}

// ---- a study

function Study({ path, study }) {
  return html`<h2>${visible(path)}</h2>
    ${study.figures.map((name) => html`<figure key=${name}><img src=${`/ui/api/runs/figure?path=${encodeURIComponent(`${path}/figures/${name}`)}`} alt=${`Figure ${visible(name)}`} loading="lazy" /><figcaption class="dim">${visible(name)}</figcaption></figure>`)}
    <${Report} text=${study.report} />`;
}

/** A report's Markdown as far as our reports use it: headings, tables, code and paragraphs. */
function Report({ text }) {
  const blocks = text
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .split(/\n{2,}/)
    .filter((block) => block.trim());
  return html`<div class="report">${blocks.map((block, at) => {
    const lines = block.split("\n");
    if (/^#+ /.test(lines[0])) return html`<h3 key=${at}>${visible(lines[0].replace(/^#+ /, ""))}</h3>`;
    if (lines[0].startsWith("|")) return html`<${ReportTable} key=${at} lines=${lines} />`;
    if (lines[0].startsWith("```"))
      return html`<pre key=${at} class="code">${visible(lines.filter((line) => !line.startsWith("```")).join("\n"))}</pre>`;
    return html`<p key=${at}>${visible(lines.join(" "))}</p>`;
  })}</div>`;
}

function ReportTable({ lines }) {
  const cells = (line) =>
    line
      .replace(/^\||\|$/g, "")
      .split("|")
      .map((cell) => cell.trim());
  const rows = lines.filter((line) => line.startsWith("|") && !/^\|[\s:|-]+\|?$/.test(line)).map(cells);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${rows[0].map((cell, at) => html`<th key=${at} scope="col">${visible(cell)}</th>`)}</tr></thead><tbody>${rows.slice(1).map((row, at) => html`<tr key=${at}>${row.map((cell, column) => html`<td key=${column}>${visible(cell)}</td>`)}</tr>`)}</tbody></table></div>`;
}

function numbersIn(value, path = "", into = new Map()) {
  if (typeof value === "number") into.set(path, value);
  else if (value && typeof value === "object")
    for (const [name, each] of Object.entries(value)) numbersIn(each, path ? `${path}.${name}` : name, into);
  return into;
}

/** The numbers of two summaries that differ, the most different first. */
function Compared({ one, other }) {
  const [left, right] = [useRun("study", one), useRun("study", other)];
  if (!left.data || !right.data) return null;
  const [before, after] = [numbersIn(left.data.summary), numbersIn(right.data.summary)];
  const shared = [...before.keys()].filter((name) => after.has(name));
  const rows = shared.map((name) => [name, before.get(name), after.get(name)]).filter(([, a, b]) => a !== b);
  const far = ([, a, b]) => Math.abs(a - b) / Math.max(1e-9, Math.abs(a), Math.abs(b));
  rows.sort((x, y) => far(y) - far(x));
  return html`<h2>What differs</h2><p class="dim">${number(rows.length)} of ${number(shared.length)} numbers that both have; ${number(before.size + after.size - 2 * shared.length)} are in one alone.</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Numbers that differ"><table><thead><tr><th scope="col">number</th><th scope="col">${visible(one)}</th><th scope="col">${visible(other)}</th><th scope="col">change</th></tr></thead><tbody>${rows.slice(0, 40).map(([name, a, b]) => html`<tr key=${name}><th scope="row">${visible(name)}</th><td>${format(a)}</td><td>${format(b)}</td><td>${a ? `${b > a ? "+" : "−"}${Math.abs((100 * (b - a)) / a).toFixed(1)} %` : ""}</td></tr>`)}</tbody></table></div>`;
}

const format = (value) => (Number.isInteger(value) ? number(value) : value.toPrecision(4));
