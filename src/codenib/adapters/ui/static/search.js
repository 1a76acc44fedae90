// The search page: one box, ranked or by pattern, results as one types. The address holds the question.

import {
  address,
  go,
  html,
  milliseconds,
  number,
  parseAddress,
  useAsk,
  useEffect,
  useRef,
  useState,
  visible,
} from "./lib.js";
import { Chip, PathText, PlaceLink, Problem, Runs, Snapshot } from "./parts.js";

const DELAY_MS = 120; // after the last key
const LANGUAGES = {
  Python: "*.{py,pyi}",
  JavaScript: "*.{js,jsx,mjs,cjs}",
  TypeScript: "*.{ts,tsx,mts,cts}",
  Go: "*.go",
  Rust: "*.rs",
  "C, C++": "*.{c,h,cc,cpp,cxx,hh,hpp,hxx}",
  Java: "*.java",
  Ruby: "*.rb",
  PHP: "*.php",
  "C#": "*.cs",
  Kotlin: "*.{kt,kts}",
  Swift: "*.swift",
  Prose: "*.{md,rst,txt}",
};
const ROUTES = [
  ["", "auto"],
  ["lexical", "words"],
  ["semantic", "meaning"],
  ["hybrid", "both"],
  ["structural", "graph"],
];
const BUDGETS = [
  ["", "balanced"],
  ["fast", "fast"],
  ["200ms", "200 ms"],
];
const TESTS = [
  ["", "lower"],
  ["include", "include"],
  ["exclude", "exclude"],
];
const LEVELS = [
  ["", "functions"],
  ["file", "files"],
];

export function SearchPage({ repository, params }) {
  const [typed, type] = useState(params.q ?? "");
  const box = useRef();
  const written = useRef(params.q ?? "");
  const regex = params.mode === "regex";
  // Back and forward change the address: the box follows, unless it is what changed it.
  useEffect(() => {
    const now = parseAddress().params.q ?? ""; // not that of an earlier key
    if (now !== written.current) {
      written.current = now;
      type(now);
    }
  }, [params.q]);
  useEffect(() => {
    if (!params.q) box.current?.focus();
  }, []);
  const change = (more, options = { replace: true }) =>
    go(address(repository, "search", "", { ...params, q: written.current, ...more }), options);
  const input = (event) => {
    written.current = event.target.value;
    type(event.target.value);
    change({});
  };
  const submit = (event) => {
    event.preventDefault();
    history.pushState(null, "", location.href); // so that "back" returns to this search
  };
  const down = (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      document.querySelector(".result a, .match a")?.focus();
    } else if (event.key === "Escape") event.target.blur();
  };
  return html`<main id="main" class="wrap search">
    <form role="search" class="ask" onSubmit=${submit}>
      <label class="hidden" for="query">${regex ? "Pattern" : "Search"}</label>
      <input id="query" ref=${box} type="search" value=${typed} onInput=${input} onKeyDown=${down} autocomplete="off" spellcheck="false" autocapitalize="off"
        placeholder=${regex ? "a regular expression, such as def \\w+_session" : "what the code does, a name, or a whole issue"} />
      <${Switch} label="Mode" value=${params.mode ?? ""} options=${[["", "Ranked"], ["regex", "Regex"]]} onChange=${(mode) => change({ mode }, {})} />
    </form>
    <${Filters} params=${params} regex=${regex} change=${change} />
    ${regex ? html`<${Matches} repository=${repository} params=${params} />` : html`<${Results} repository=${repository} params=${params} change=${change} />`}
  </main>`;
}

function Switch({ label, value, options, onChange }) {
  return html`<span class="switch" role="group" aria-label=${label}>
    ${options.map(([name, title]) => html`<button key=${name} type="button" aria-pressed=${value === name ? "true" : "false"} onClick=${() => onChange(name)}>${title}</button>`)}
  </span>`;
}

function Choice({ label, value, options, onChange }) {
  return html`<label class="choice">${label} <select value=${value ?? ""} onChange=${(event) => onChange(event.target.value)}>
    ${options.map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}
  </select></label>`;
}

function Filters({ params, regex, change }) {
  const languages = [["", "any"], ...Object.keys(LANGUAGES).map((each) => [each, each])];
  return html`<div class="filters" role="group" aria-label="How to search">
    ${
      regex
        ? html`<label class="choice"><input type="checkbox" checked=${params.case === "ignore"} onChange=${(event) => change({ case: event.target.checked ? "ignore" : "" })} /> ignore case</label>
          <label class="choice"><input type="checkbox" checked=${params.literal === "1"} onChange=${(event) => change({ literal: event.target.checked ? "1" : "" })} /> plain text</label>
          <label class="choice"><input type="checkbox" checked=${params.multiline === "1"} onChange=${(event) => change({ multiline: event.target.checked ? "1" : "" })} /> over lines</label>`
        : html`<${Choice} label="route" value=${params.route} options=${ROUTES} onChange=${(route) => change({ route })} />
          <${Choice} label="budget" value=${params.budget} options=${BUDGETS} onChange=${(budget) => change({ budget })} />
          <${Choice} label="tests" value=${params.tests} options=${TESTS} onChange=${(tests) => change({ tests })} />
          <${Choice} label="find" value=${params.level} options=${LEVELS} onChange=${(level) => change({ level })} />`
    }
    <${Choice} label="language" value=${params.language} options=${languages} onChange=${(language) => change({ language })} />
    <label class="choice">path <input type="text" class="short" value=${params.path ?? ""} placeholder="src, !tests/**" onChange=${(event) => change({ path: event.target.value })} /></label>
    <label class="choice">revision <input type="text" class="short" value=${params.at ?? ""} placeholder="worktree" onChange=${(event) => change({ at: event.target.value })} /></label>
  </div>`;
}

/** The globs of the address: those written, and those of the language. */
function globsOf({ path = "", language = "" }) {
  const written = path.split(/[,\s]+/).filter(Boolean);
  const kept = written.filter((glob) => !glob.startsWith("!"));
  const own = LANGUAGES[language];
  if (!own) return written;
  // Globs add up, so a language within a folder is one glob.
  const within = kept.length ? kept.map((glob) => `${glob.replace(/\/?\**$/, "")}/**/${own}`) : [own];
  return [...within, ...written.filter((glob) => glob.startsWith("!"))];
}

function walk(event) {
  const links = [...document.querySelectorAll(".result a.open, .match a")];
  const at = links.indexOf(document.activeElement);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
  if (event.key === "Escape" || next === -1) document.querySelector("#query")?.focus();
  else if (next == null || at < 0) return;
  else links[Math.min(next, links.length - 1)].focus();
  event.preventDefault();
}

function Results({ repository, params, change }) {
  const query = (params.q ?? "").trim();
  const asked = {
    query,
    k: params.kind ? 50 : params.k || 10,
    route: params.route,
    budget: params.budget,
    tests: params.tests,
    level: params.level,
    paths: globsOf(params),
    at: params.at,
    explain: params.why === "1",
  };
  const { data, error, waiting } = useAsk(repository, "page-search", asked, {
    when: query !== "",
    delay: DELAY_MS,
  });
  if (!query) return html`<${Start} repository=${repository} />`;
  if (error && !waiting) return html`<${Problem} error=${error} />`;
  if (!data)
    return html`<p class="quiet" role="status">${error ? "The first answer comes when the text is indexed." : "Searching…"}</p>`;
  const { reply, excerpts } = data;
  const kinds = [...new Set(reply.items.map((item) => item.kind))].sort();
  const rows = reply.items
    .map((item, at) => [item, excerpts[at], at])
    .filter(([item]) => !params.kind || item.kind === params.kind);
  return html`
    <${Summary} reply=${reply} waiting=${waiting} count=${rows.length} params=${params} change=${change} />
    ${params.why === "1" && html`<${Timeline} reply=${reply} />`}
    ${(kinds.length > 1 || params.kind) && html`<p class="kinds">${["", ...kinds].map((kind) => html`<button key=${kind} type="button" class="chip" aria-pressed=${(params.kind ?? "") === kind ? "true" : "false"} onClick=${() => change({ kind })}>${kind || "every kind"}</button>`)}</p>`}
    <ol class="results" onKeyDown=${walk} aria-label="Results">
      ${rows.map(([item, excerpt, at]) => html`<${Result} key=${`${item.path}:${item.start_line}`} repository=${repository} item=${item} excerpt=${excerpt} place=${at + 1} best=${reply.items[0].score} at=${params.at} why=${reply.explained[at]} />`)}
    </ol>
    ${reply.truncated && html`<p class="more"><button type="button" onClick=${() => change({ k: Math.min(200, Number(params.k || 10) + 20) })}>Show more</button> <span class="dim">${number(reply.total - reply.items.length)} more match</span></p>`}
  `;
}

function Summary({ reply, waiting, count, params, change }) {
  const { plan } = reply;
  const left = Object.entries(reply.coverage.skipped)
    .map(([why, often]) => `${number(often)} ${why}`)
    .join(", ");
  return html`<div class="summary" aria-live="polite">
    <span><b>${number(count)}</b> ${params.kind ? `of the ${reply.items.length} best, ` : ""}of ${number(reply.total)} matching ${params.level === "file" ? "files" : "units"}</span>
    <span class="dim">${milliseconds(reply.seconds)}${waiting ? " · asking again" : ""}</span>
    <${Chip} kind="route" title=${visible(plan.reason)}>${plan.route}${plan.fusion ? `, ${plan.fusion}` : ""}<//>
    <${Snapshot} reply=${reply} />
    <button type="button" class="chip" aria-pressed=${params.why === "1" ? "true" : "false"} onClick=${() => change({ why: params.why === "1" ? "" : "1" })}>why this order</button>
    ${reply.freshness.refreshed && html`<span class="dim">${visible(reply.freshness.refreshed)}</span>`}
    ${left && html`<span class="dim" title="These files are in no view">not searched: ${left}</span>`}
    ${reply.note && html`<p class="note">${visible(reply.note)}</p>`}
  </div>
  ${!reply.items.length && html`<p class="quiet">Nothing matches.</p>`}`;
}

function Result({ repository, item, excerpt, place, best, at, why }) {
  return html`<li class="result">
    <h3><a class="open" href=${address(repository, "code", item.path, { line: item.end_line > item.start_line ? `${item.start_line}-${item.end_line}` : item.start_line, at })}>
      <${PathText} path=${item.path} /><span class="dim">:${item.start_line}</span>
    </a> ${item.symbol && html`<span class="symbol">${visible(item.symbol)}</span>`}
      <span class="tags"><span class="dim">${item.kind}</span>${item.marks.map((mark) => html`<${Chip} key=${mark}>${mark}<//>`)}
      <span class="score" title=${`place ${place}, score ${item.score}`}><meter min="0" max=${best || 1} value=${item.score} aria-label=${`score ${item.score.toFixed(2)}`}></meter> ${item.score.toFixed(2)}</span></span>
    </h3>
    ${excerpt.lines.length > 0 && html`<pre class="code" tabindex="-1">${excerpt.lines.map((runs, row) => html`<div key=${row} class=${row && excerpt.numbers[row] > excerpt.numbers[row - 1] + 1 ? "line gap" : "line"}><span class="no" aria-hidden="true">${excerpt.numbers[row]}</span><code><${Runs} runs=${runs} marked=${item.matched} /></code></div>`)}</pre>`}
    ${why && html`<${Why} why=${why} />`}
    <p class="dim matched">${item.matched.length > 0 && html`words: ${item.matched.map(visible).join(", ")}`}${excerpt.more > 0 ? ` · ${number(excerpt.more)} more lines` : ""}${item.further ? ` · ${number(item.further)} more results in this file` : ""}</p>
  </li>`;
}

const ORDERS = {
  words: "by words",
  meaning: "by meaning",
  weighted: "together",
  rrf: "by ranks",
  learned: "learned order",
  graph: "with the graph",
  expanded: "expanded",
  answer: "here",
};

/** Which places a result has in each order, and which words gave it how many points. */
function Why({ why }) {
  const words = Object.entries(why.words).sort((one, other) => other[1] - one[1]);
  const most = words[0]?.[1] || 1;
  return html`<div class="why">
    <p class="places">${Object.entries(why.places).map(([name, place], at) => html`<span key=${name}>${at > 0 && html`<span class="dim" aria-hidden="true">→ </span>`}${ORDERS[name] ?? name} <b>${place ? `#${place}` : "not among the first 200"}</b></span>`)}</p>
    <ul class="points">${words.map(([word, points]) => html`<li key=${word}><span>${visible(word)}</span><meter min="0" max=${most} value=${points} aria-label=${`${points} points`}></meter><span class="dim">${points.toFixed(1)}</span></li>`)}</ul>
    ${!words.length && html`<p class="dim">No word of the question stands in it.</p>`}
  </div>`;
}

const STEPS = {
  snapshot: "see whether files changed",
  plan: "plan",
  lexical: "words",
  hybrid: "words and vectors",
  semantic: "vectors",
  learned: "learned order",
  expand: "graph",
  names: "names first",
};

/** The steps of the answer, each as long as it took. A step below another is inside of it. */
function Timeline({ reply }) {
  const { steps, plan } = reply;
  const end = Math.max(...steps.map((step) => step.start_ms + step.ms), 0.001);
  return html`<figure class="timeline">
    <figcaption class="dim">${visible(plan.route)}${plan.fusion ? `, ${plan.fusion}` : ""}, because ${visible(plan.reason)}${plan.estimate_ms == null ? "" : `; expected ${plan.estimate_ms} ms`}</figcaption>
    <ol>${steps.map((step) => html`<li key=${step.operator}><span class="what">${STEPS[step.operator] ?? step.operator}</span><span class="track"><span class="span" style=${{ left: `${(100 * step.start_ms) / end}%`, width: `${Math.max(0.4, (100 * step.ms) / end)}%` }}></span></span><span class="dim took">${step.ms < 10 ? step.ms.toFixed(2) : Math.round(step.ms)} ms</span></li>`)}</ol>
  </figure>`;
}

function Matches({ repository, params }) {
  const pattern = params.q ?? "";
  const asked = {
    pattern,
    k: params.k || 100,
    ignore_case: params.case === "ignore",
    literal: params.literal === "1",
    multiline: params.multiline === "1",
    paths: globsOf(params),
    at: params.at,
  };
  const { data, error, waiting } = useAsk(repository, "regex", asked, {
    when: pattern !== "",
    delay: DELAY_MS,
  });
  if (!pattern)
    return html`<p class="quiet">Lines that match a pattern, in path order, as a scan of every file would give them.</p>`;
  if (error && !waiting) return html`<${Problem} error=${error} />`;
  if (!data) return html`<p class="quiet" role="status">Searching…</p>`;
  const files = new Map();
  for (const item of data.items) files.set(item.path, [...(files.get(item.path) ?? []), item]);
  const exact = data.complete ? "" : "at least ";
  return html`
    <div class="summary" aria-live="polite">
      <span><b>${exact}${number(data.total)}</b> lines in <b>${number(data.files)}</b> files</span>
      <span class="dim">${number(data.items.length)} listed · ${number(data.candidates)} files read · ${milliseconds(data.seconds)}</span>
      <${Snapshot} reply=${data} />
      ${data.note && html`<p class="note">${visible(data.note)}</p>`}
    </div>
    <ol class="results" onKeyDown=${walk} aria-label="Files with matches">
      ${[...files].map(
        ([path, items]) => html`<li class="match" key=${path}>
          <h3><${PlaceLink} repository=${repository} path=${path} line=${items[0].line} at=${params.at} /></h3>
          <pre class="code" tabindex="-1">${items.map((item) => html`<div key=${item.line} class="line"><span class="no" aria-hidden="true">${item.line}</span><code>${spans(item)}</code></div>`)}</pre>
        </li>`,
      )}
    </ol>`;
}

/** A matching line, its matches marked; columns count code points. */
function spans({ text, spans: found }) {
  const points = [...text];
  const parts = [];
  let at = 0;
  for (const [start, end] of found) {
    parts.push(
      visible(points.slice(at, start).join("")),
      html`<mark>${visible(points.slice(start, end).join(""))}</mark>`,
    );
    at = end;
  }
  return [...parts, visible(points.slice(at, at + 400).join(""))];
}

function Start({ repository }) {
  const { data } = useAsk(repository, "status", {});
  return html`<div class="start">
    <p>Ask for what the code does, for a name, or paste a whole issue. <kbd>/</kbd> comes back here, <kbd>?</kbd> lists the keys.</p>
    ${data && html`<p class="dim">${number(data.files)} files of <b>${visible(data.repository)}</b> at <code>${(data.snapshot.commit ?? data.snapshot.id).slice(0, 8)}</code>${data.snapshot.dirty ? " with edits" : ""}; views: ${data.items.length ? data.items.map((view) => `${view.kind} ${view.status}`).join(", ") : "none yet"}</p>`}
  </div>`;
}
