// Small parts that several pages draw: source, chips, errors, places, freshness.

import { ago, codeAddress, html, milliseconds, number, useLive, visible } from "./lib.js";

/** A line of source: runs of a class and a text. Text nodes alone, so that no source is ever markup. */
export function Runs({ runs, marked = [] }) {
  return runs.map(
    ([name, text], at) =>
      html`<span key=${at} class=${name ? `t-${name}` : undefined}>${mark(text, marked)}</span>`,
  );
}

/** The text with each word of the question, in whatever form, in an element of its own. */
function mark(text, words) {
  const stems = words
    .map((word) => word.replace(/(?:es|s|ed|e|ing)$/i, ""))
    .filter((stem) => stem.length > 2);
  if (!stems.length) return visible(text);
  const any = stems.map((stem) => stem.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const parts = text.split(new RegExp(`((?:${any})(?:es|s|ed|e|ing)?)`, "i"));
  return parts.map((part, at) => (at % 2 ? html`<mark>${visible(part)}</mark>` : visible(part)));
}

export const Chip = ({ children, kind = "", title }) =>
  html`<span class=${`chip ${kind}`} title=${title}>${children}</span>`;

/** A path with its folders dimmed. */
export function PathText({ path }) {
  const at = path.lastIndexOf("/") + 1;
  return html`<span class="path"><span class="folders">${visible(path.slice(0, at))}</span><b>${visible(path.slice(at))}</b></span>`;
}

export function PlaceLink({ repository, path, line, end, at, children }) {
  const lines = end && end !== line ? `${line}-${end}` : line;
  return html`<a class="place" href=${codeAddress(repository, path, lines, { at })}>${children ?? html`<${PathText} path=${path} /><span class="dim">:${line}</span>`}</a>`;
}

/** What an answer claims: who gave it, how exactly, how completely. As the command line labels it. */
export function Claim({ reply }) {
  const who =
    { static: "resolved (graph)", live: "live server", syntactic: "by name" }[reply.provider] ??
    reply.provider;
  const backend = reply.backend || Object.values(reply.backends ?? {}).join(", ");
  const words = {
    all: "all of them",
    limited: "more exist",
    partial: `partial${reply.unresolved ? `: ${number(reply.unresolved)} files unresolved` : ""}`,
    unknown: "completeness unknown",
  };
  return html`<p class="claim">
    <${Chip} kind=${reply.provider}>${who}<//>
    ${backend && html`<span>${backend}</span>`}
    ${reply.granularity && reply.granularity !== "occurrence" && html`<span>${reply.granularity}</span>`}
    ${reply.completeness && html`<span>${words[reply.completeness]}</span>`}
    <span>${number(reply.items.length)} of ${number(reply.total)} in ${milliseconds(reply.seconds)}</span>
    ${reply.outside ? html`<span>${number(reply.outside)} outside the repository</span>` : null}
  </p>
  ${reply.note && html`<p class="note">${visible(reply.note)}</p>`}`;
}

/** Which state of the repository an answer is for. */
export function Snapshot({ reply }) {
  const { snapshot, freshness } = reply;
  if (!snapshot) return null;
  const id = (snapshot.commit ?? snapshot.id).slice(0, 8);
  return html`<span class="snapshot" title=${`snapshot ${snapshot.id}`}>
    <span class=${`dot ${freshness.state}`} aria-hidden="true"></span>${freshness.state} · <code>${id}</code>${snapshot.dirty ? " + edits" : ""}
  </span>`;
}

export function Problem({ error }) {
  const waits = error.status === 409;
  return html`<div class="problem" role="alert">
    <h2>${waits ? "Not yet" : error.status === 400 ? "This cannot be answered" : error.status === 401 ? "Signed out" : "Something went wrong"}</h2>
    <p>${visible(error.message)}</p>
    ${error.hint && html`<p class="dim">try: <code>${visible(error.hint)}</code></p>`}
  </div>`;
}

/** How far the work in the background is, while there is some. */
export function Progress({ repository }) {
  const live = useLive(repository);
  if (!live.online)
    return html`<p class="progress" role="status">The server does not answer. Answers may be old.</p>`;
  if (live.error) return html`<p class="progress" role="status">${visible(live.error)}</p>`;
  if (!live.stage) return null;
  const known = live.total > 1;
  return html`<p class="progress" role="status">
    <span>${live.state === "ready" ? "In the background: " : "Indexing: "}${visible(live.stage)}${known ? ` ${number(live.done)} of ${number(live.total)}` : ""}</span>
    ${known ? html`<progress max=${live.total} value=${live.done} aria-label=${live.stage}></progress>` : html`<progress aria-label=${live.stage}></progress>`}
  </p>`;
}

export function Commits({ items }) {
  return html`<ol class="commits">
    ${items.map(
      (each) => html`<li key=${each.commit}>
        <span class="subject" title=${visible(each.message)}>${visible(each.subject) || "(no message)"}</span>
        <span class="dim"><code>${each.commit.slice(0, 8)}</code> ${visible(each.author)}, <time datetime=${each.committed} title=${each.committed}>${ago(each.committed)}</time> <span class="plus">+${each.added}</span> <span class="minus">−${each.removed}</span></span>
      </li>`,
    )}
  </ol>`;
}
