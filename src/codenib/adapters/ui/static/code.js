// The code page: a file or a folder, its outline, and beside it what a name means and what happened to lines.

import {
  address,
  ago,
  ask,
  codeAddress,
  go,
  html,
  number,
  useAsk,
  useEffect,
  useMemo,
  useRef,
  useState,
  visible,
} from "./lib.js";
import { Claim, Commits, PathText, PlaceLink, Problem, Snapshot } from "./parts.js";

const LINE_PX = 20;
const WHOLE = 3000; // lines that are drawn at once; of a longer file, those around the window
const NAMES = new Set(["n", "f", "t", "b", "d", "m"]);

export function CodePage({ repository, rest, params }) {
  const place = rest || ".";
  const { data, error, waiting } = useAsk(repository, "page-file", { place, at: params.at });
  if (error && !waiting)
    return html`<main id="main" class="wrap"><${Crumbs} repository=${repository} path=${rest} /><${Problem} error=${error} /></main>`;
  if (!data) return html`<main id="main" class="wrap quiet">Reading…</main>`;
  const file = data.reply.items[0];
  if (!file || file.text === undefined)
    return html`<${Folder} repository=${repository} path=${rest} reply=${data.reply} at=${params.at} />`;
  return html`<${File} key=${file.path} repository=${repository} file=${file} reply=${data.reply} lines=${data.lines} params=${params} />`;
}

function Crumbs({ repository, path, at }) {
  const parts = path.split("/").filter(Boolean);
  return html`<nav class="crumbs" aria-label="Path"><a href=${address(repository, "code", "", { at })}>${visible(repository)}</a>${parts.map(
    (part, index) =>
      html`<span key=${index}> / ${index === parts.length - 1 ? html`<b aria-current="page">${visible(part)}</b>` : html`<a href=${address(repository, "code", parts.slice(0, index + 1).join("/"), { at })}>${visible(part)}</a>`}</span>`,
  )}</nav>`;
}

function Folder({ repository, path, reply, at }) {
  return html`<main id="main" class="wrap">
    <div class="head"><h1><${Crumbs} repository=${repository} path=${path} at=${at} /></h1><${Snapshot} reply=${reply} /></div>
    <ul class="folder">${reply.items.map((entry) => {
      const name = entry.path.replace(/\/$/, "").split("/").pop();
      return html`<li key=${entry.path}><a href=${address(repository, "code", entry.path.replace(/\/$/, ""), { at })}>${visible(name)}${entry.kind === "folder" ? "/" : ""}</a>${entry.kind === "folder" ? html`<span class="dim">${number(entry.files)} files</span>` : null}</li>`;
    })}</ul>
  </main>`;
}

const range = (text) => {
  const [first, last] = String(text ?? "")
    .split("-")
    .map(Number);
  return first ? [first, last || first] : [0, 0];
};

function File({ repository, file, reply, lines, params }) {
  const [first, last] = range(params.line);
  const show = (more, options) =>
    go(codeAddress(repository, file.path, params.line, { ...params, ...more }), options);
  return html`<main id="main" class="code-page">
    <div class="head">
      <h1><${Crumbs} repository=${repository} path=${file.path} at=${params.at} /></h1>
      <button type="button" class="chip" aria-pressed=${params.blame === "1" ? "true" : "false"} onClick=${() => show({ blame: params.blame === "1" ? "" : "1" }, { replace: true })}>who changed it</button>
      <span class="dim">${number(file.lines)} lines${file.language ? ` · ${file.language}` : ""}</span><${Snapshot} reply=${reply} />
    </div>
    <div class="panes">
      <${Outline} repository=${repository} file=${file} at=${params.at} first=${first} />
      <${Source} repository=${repository} file=${file} lines=${lines} first=${first} last=${last} params=${params} show=${show} />
      <${Aside} repository=${repository} file=${file} first=${first} last=${last} params=${params} show=${show} />
    </div>
  </main>`;
}

function Outline({ repository, file, at, first }) {
  const { data, error } = useAsk(repository, "outline", { place: file.path, at });
  const items = data?.items ?? [];
  const inside = items.filter((each) => first && each.line <= first && first <= each.end_line).pop();
  return html`<nav class="outline" aria-label="Outline">
    <h2>Outline</h2>
    ${error ? html`<p class="dim">${visible(error.message)}</p>` : null}
    ${data && !items.length && html`<p class="dim">no declarations</p>`}
    <ul>${items.map(
      (each) =>
        html`<li key=${each.id} class=${`depth-${Math.min(each.depth, 4)}`}><a href=${codeAddress(repository, file.path, `${each.line}-${each.end_line}`, { at })} aria-current=${each === inside ? "true" : undefined} title=${`${each.kind} ${visible(each.qualified)}`}><span class=${`kind k-${each.kind}`} aria-hidden="true"></span>${visible(each.name)}</a></li>`,
    )}</ul>
  </nav>`;
}

function Source({ repository, file, lines, first, last, params, show }) {
  const box = useRef();
  const anchor = useRef(0);
  const [window_, look] = useState([0, lines.length <= WHOLE ? lines.length : 200]);
  const whole = lines.length <= WHOLE;
  const blame = useAsk(
    repository,
    "blame",
    { place: file.path, at: params.at },
    { when: params.blame === "1" },
  );
  const changed = useMemo(() => runsByLine(blame.data), [blame.data]);
  useEffect(() => {
    const { scrollTop, clientHeight } = box.current;
    const top = (first - 1) * LINE_PX;
    const inView = scrollTop <= top && top + LINE_PX <= scrollTop + clientHeight;
    if (first && !inView) box.current.scrollTo({ top: Math.max(0, top - 5 * LINE_PX) });
  }, [file.path, params.line]);
  useEffect(() => {
    if (whole) {
      look([0, lines.length]);
      return undefined;
    }
    const update = () => {
      const top = Math.floor(box.current.scrollTop / LINE_PX);
      look([Math.max(0, top - 100), Math.min(lines.length, top + 200)]);
    };
    update();
    box.current.addEventListener("scroll", update, { passive: true });
    return () => box.current?.removeEventListener("scroll", update);
  }, [lines.length, whole]);
  const pick = (event) => {
    const row = event.target.closest(".line");
    if (!row) return;
    const line = Number(row.dataset.line);
    if (event.target.closest(".no")) {
      event.preventDefault();
      const from = event.shiftKey && anchor.current ? Math.min(anchor.current, line) : line;
      const to = event.shiftKey && anchor.current ? Math.max(anchor.current, line) : line;
      anchor.current = line;
      show({ line: from === to ? from : `${from}-${to}` });
      return;
    }
    const token = event.target.closest("[data-at]");
    if (!token || String(getSelection())) return;
    define(repository, file, line, Number(token.dataset.at) + 1, params, event.shiftKey);
  };
  const rows = [];
  for (let at = window_[0]; at < Math.min(window_[1], lines.length); at++) {
    const line = at + 1;
    rows.push(
      html`<${Row} key=${line} line=${line} runs=${lines[at]} chosen=${first <= line && line <= last} blamed=${params.blame === "1"} change=${changed.get(line)} />`,
    );
  }
  return html`<div class="source" ref=${box} onClick=${pick} tabindex="0" role="region" aria-label=${`Source of ${visible(file.path)}`}>
    <div class="lines" style=${{ height: `${(lines.length - window_[0]) * LINE_PX}px`, paddingTop: `${window_[0] * LINE_PX}px` }}>${rows}</div>
  </div>`;
}

/** The first line of each run of lines that one commit changed last. */
function runsByLine(reply) {
  return new Map((reply?.items ?? []).map((run) => [run.start_line, run]));
}

function Blamed({ change }) {
  if (!change) return html`<span class="blame"></span>`;
  if (!change.commit) return html`<span class="blame">not committed, or not known</span>`;
  const words = `${visible(change.subject)}\n${change.commit.slice(0, 10)} ${visible(change.author)}, ${change.committed}`;
  return html`<span class="blame" title=${words}>${ago(change.committed)} <span class="who">${visible(change.author)}</span></span>`;
}

function Row({ line, runs, chosen, blamed, change }) {
  let column = 0;
  return html`<div class=${chosen ? "line chosen" : "line"} data-line=${line}>
    <a class="no" href=${`?line=${line}`} aria-label=${`Line ${line}`} tabindex="-1">${line}</a>${blamed && html`<${Blamed} change=${change} />`}<code>${runs.map(
      ([name, text], at) => {
        const start = column;
        column += [...text].length;
        return html`<span key=${at} class=${name ? `t-${name}` : undefined} data-at=${NAMES.has(name) ? start : undefined}>${visible(text)}</span>`;
      },
    )}</code></div>`;
}

/** Go to where the name at a place is declared; stay where that is here, or where it is not known. */
async function define(repository, file, line, column, params, stay) {
  const on = `${line}:${column}`;
  const here = { ...params, line, on, show: params.show || "refs" };
  try {
    const reply = stay
      ? { items: [] }
      : await ask(repository, "def", { where: `${file.path}:${on}`, at: params.at });
    const place = reply.items[0];
    if (place && !(place.path === file.path && place.line === line)) {
      const to = { ...params, on: `${place.line}:${place.column + 1}`, show: here.show };
      go(codeAddress(repository, place.path, place.line, { ...to, line: place.line }));
      return;
    }
  } catch {
    // the list beside the code says why nothing is known
  }
  go(codeAddress(repository, file.path, line, here));
}

const TABS = [
  ["refs", "References"],
  ["callers", "Callers"],
  ["callees", "Callees"],
  ["history", "History"],
];

function Aside({ repository, file, first, last, params, show }) {
  const tab = params.show || (params.on ? "refs" : "history");
  return html`<aside class="beside" aria-label="About this code">
    <div class="tabs" role="tablist" aria-label="What is listed">${TABS.map(([name, title]) => html`<button key=${name} id=${`tab-${name}`} role="tab" type="button" aria-selected=${tab === name ? "true" : "false"} aria-controls="listed" tabindex=${tab === name ? 0 : -1} onKeyDown=${(event) => turn(event, tab, show)} onClick=${() => show({ show: name }, { replace: true })}>${title}</button>`)}</div>
    <div id="listed" role="tabpanel" aria-labelledby=${`tab-${tab}`} tabindex="0">
      ${tab === "history" ? html`<${History} repository=${repository} file=${file} first=${first} last=${last} at=${params.at} />` : html`<${Uses} repository=${repository} file=${file} question=${tab} params=${params} />`}
    </div>
  </aside>`;
}

function turn(event, tab, show) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const at = TABS.findIndex(([name]) => name === tab);
  const [name] = TABS[(at + step + TABS.length) % TABS.length];
  show({ show: name }, { replace: true });
  requestAnimationFrame(() => document.querySelector(`#tab-${name}`)?.focus());
}

function Uses({ repository, file, question, params }) {
  const where = params.on
    ? `${file.path}:${params.on}`
    : params.line
      ? `${file.path}:${range(params.line)[0]}`
      : "";
  const { data, error } = useAsk(
    repository,
    question,
    { where, at: params.at },
    { when: Boolean(params.on) },
  );
  if (!params.on) return html`<p class="quiet">Click a name in the code. Shift and click stays here.</p>`;
  if (error) return html`<p class="note">${visible(error.message)}</p>`;
  if (!data) return html`<p class="quiet">Looking…</p>`;
  const name = data.asked || data.start?.qualified || "";
  const rows = data.items.map((each) => ({
    path: each.path,
    line: each.line,
    text: each.text ?? each.qualified,
    scope: each.scope,
    kind: each.kind,
    id: each.id,
  }));
  const files = new Map();
  for (const row of rows) files.set(row.path, [...(files.get(row.path) ?? []), row]);
  return html`
    <h2 class="name">${visible(name)} ${data.start && html`<a class="dim" href=${address(repository, "map", "", { show: "calls", symbol: `${file.path}:${params.on}` })}>draw</a>`}</h2>
    <${Claim} reply=${data} />
    ${!rows.length && html`<p class="quiet">${data.completeness === "all" ? "none" : "nothing known"}</p>`}
    <ul class="uses">${[...files].map(
      ([path, each]) =>
        html`<li key=${path}><${PathText} path=${path} /><ul>${each.map(
          (row) =>
            html`<li key=${`${row.line}${row.text}`}><a class="place" href=${codeAddress(repository, path, row.line, { at: params.at, on: params.on && path === file.path ? params.on : undefined, show: params.show })}><span class="no">${row.line}</span> <code>${visible(String(row.text).trim())}</code></a>${row.scope === "name" && data.provider !== "syntactic" ? html` <span class="dim">by name</span>` : null}</li>`,
        )}</ul></li>`,
    )}</ul>`;
}

function History({ repository, file, first, last, at }) {
  const place = first ? `${file.path}:${first}-${last}` : file.path;
  const { data, error } = useAsk(repository, "history", { place, at });
  if (error) return html`<p class="note">${visible(error.message)}</p>`;
  if (!data) return html`<p class="quiet">Looking…</p>`;
  return html`
    <h2 class="name">${first ? `lines ${first}–${last}` : "the whole file"}</h2>
    <p class="claim"><span>${number(data.items.length)} of ${number(data.total)} commits</span><span>${data.complete ? "to their beginning" : "incomplete"}</span>${data.uncommitted ? html`<span>${number(data.uncommitted)} lines not committed</span>` : null}</p>
    ${data.note && html`<p class="note">${visible(data.note)}</p>`}
    <${Commits} items=${data.items} />
    ${
      data.together.length > 0 &&
      html`<h3>Changes together with</h3><ul class="uses">${data.together.map(
        (each) =>
          html`<li key=${each.path}><${PlaceLink} repository=${repository} path=${each.path} at=${at}><${PathText} path=${each.path} /><//> <span class="dim">${each.together} commits, ${Math.round(each.share * 100)} %, ${each.lift.toFixed(0)} × chance</span></li>`,
      )}</ul>`
    }`;
}
