// The shell: which page an address means, the bar above it, keys, and what is drawn when something fails.

import {
  address,
  ask,
  Component,
  go,
  html,
  render,
  useAddress,
  useEffect,
  useLive,
  useRef,
  useState,
  visible,
} from "./lib.js";
import { Problem, Progress } from "./parts.js";
import { SearchPage } from "./search.js";

const PAGES = [
  ["search", "Search"],
  ["code", "Code"],
  ["map", "Map"],
  ["freshness", "Freshness"],
  ["runs", "Runs"],
];
/** Pages that come when they are first asked for. */
const LATER = {
  code: () => import("./code.js").then((module) => module.CodePage),
  map: () => import("./map.js").then((module) => module.MapPage),
  freshness: () => import("./freshness.js").then((module) => module.FreshnessPage),
  runs: () => import("./runs.js").then((module) => module.RunsPage),
};

class Boundary extends Component {
  componentDidCatch(error) {
    console.error(error);
    this.setState({ error });
  }
  componentDidUpdate(before) {
    if (before.of !== this.props.of && this.state.error) this.setState({ error: null });
  }
  render({ children }, { error }) {
    return error
      ? html`<main id="main" class="wrap"><${Problem} error=${{ message: `The page failed: ${error.message}` }} /></main>`
      : children;
  }
}

function Later({ load, ...props }) {
  const [Page, set] = useState(null);
  const [error, fail] = useState(null);
  useEffect(() => {
    load().then((component) => set(() => component), fail);
  }, [load]);
  if (error) return html`<main id="main" class="wrap"><${Problem} error=${error} /></main>`;
  return Page ? html`<${Page} ...${props} />` : html`<main id="main" class="wrap quiet">Loading…</main>`;
}

function Theme() {
  const [theme, set] = useState(() => localStorage.getItem("codenib-theme") ?? "");
  useEffect(() => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    localStorage.setItem("codenib-theme", theme);
  }, [theme]);
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return html`<button class="plain" type="button" aria-label=${dark ? "Use light colours" : "Use dark colours"} onClick=${() => set(dark ? "light" : "dark")}>${dark ? "☀" : "☾"}</button>`;
}

function Standing({ repository }) {
  const live = useLive(repository);
  const stale = Object.values(live.views).some((status) => status !== "fresh");
  const word = !live.online
    ? "offline"
    : live.state === "failed"
      ? "failed"
      : live.state !== "ready"
        ? live.state
        : stale
          ? "catching up"
          : "fresh";
  return html`<a class="standing" href=${address(repository, "freshness")} title=${live.watching ? "file events are watched" : "files are looked at now and then"}>
    <span class=${`dot ${word.replace(" ", "-")}`} aria-hidden="true"></span>${word}
  </a>`;
}

function Bar({ repository, page, repositories, onHelp }) {
  const choose = (event) => go(address(event.target.value, page || "search"));
  return html`<header class="bar">
    <a class="mark" href=${repository ? address(repository, "search") : "/ui/"}>CodeNib</a>
    ${
      repositories.length > 1
        ? html`<select aria-label="Repository" value=${repository} onChange=${choose}>${repositories.map((each) => html`<option key=${each.name} value=${each.name}>${visible(each.name)}</option>`)}</select>`
        : html`<span class="repository" title=${repositories[0]?.root}>${visible(repository)}</span>`
    }
    <nav aria-label="Pages">${PAGES.map(([name, title]) => html`<a key=${name} href=${address(repository, name)} aria-current=${page === name ? "page" : undefined}>${title}</a>`)}</nav>
    <span class="space"></span>
    ${repository && html`<${Standing} repository=${repository} />`}
    <${Theme} />
    <button class="plain" type="button" aria-label="Keys and help" onClick=${onHelp}>?</button>
  </header>`;
}

const KEYS = [
  ["/", "go to the search box"],
  ["↓ ↑", "walk through the results"],
  ["Enter", "open a result; in the box, remember the search for the back button"],
  ["Esc", "back to the box, or close"],
  ["g then s, c, m, f, r", "go to search, code, map, freshness, runs"],
  ["?", "this list"],
];

function Help({ dialog }) {
  return html`<dialog ref=${dialog} aria-labelledby="help">
    <h2 id="help">Keys</h2>
    <dl class="keys">${KEYS.map(([key, what]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <p class="dim">Every answer here is the JSON that the command of that name prints with <code>--json</code>. Nothing is written, and no other host is asked.</p>
    <form method="dialog"><button>Close</button></form>
  </dialog>`;
}

const GO = { s: "search", c: "code", m: "map", f: "freshness", r: "runs" };

function toTheBox(repository) {
  const box = document.querySelector("#query");
  if (box) box.focus();
  else go(address(repository, "search"));
}

function useKeys(repository, dialog) {
  useEffect(() => {
    let went = 0;
    const does = { "/": () => toTheBox(repository), "?": () => dialog.current?.showModal() };
    const press = (event) => {
      const typing = event.target.closest?.("input, textarea, select, dialog[open]");
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (does[event.key]) {
        event.preventDefault();
        does[event.key]();
      } else if (GO[event.key] && Date.now() - went < 1500) go(address(repository, GO[event.key]));
      went = event.key === "g" ? Date.now() : 0;
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [repository]);
}

function App() {
  const { repository, page, rest, params } = useAddress();
  const [known, set] = useState(null);
  const [error, fail] = useState(null);
  const dialog = useRef();
  useEffect(() => {
    ask("", "repositories").then(set, fail);
  }, []);
  useKeys(repository, dialog);
  useEffect(() => {
    if (known && !repository && known.repositories.length)
      go(address(known.repositories[0].name, "search"), { replace: true });
  }, [known, repository]);
  useEffect(() => {
    const title =
      page === "code" && rest
        ? rest
        : params.q || params.pattern || PAGES.find(([name]) => name === page)?.[1];
    document.title = [title, repository, "CodeNib"].filter(Boolean).join(" · ");
  });
  if (error) return html`<main id="main" class="wrap"><${Problem} error=${error} /></main>`;
  if (!known)
    return html`<header class="bar"><span class="mark">CodeNib</span></header><main id="main" class="wrap"></main>`;
  const there = known.repositories.some((each) => each.name === repository);
  const props = { repository, rest, params };
  let body;
  if (!repository) body = html`<main id="main" class="wrap"></main>`;
  else if (!there)
    body = html`<main id="main" class="wrap"><${Problem} error=${{ message: `No repository ${repository} is served here.`, hint: "codenib ui PATH" }} /></main>`;
  else if (page === "search" || !page) body = html`<${SearchPage} key=${repository} ...${props} />`;
  else if (LATER[page]) body = html`<${Later} key=${page + repository} load=${LATER[page]} ...${props} />`;
  else
    body = html`<main id="main" class="wrap"><${Problem} error=${{ message: `There is no page ${page}.`, hint: "the links above" }} /></main>`;
  return html`
    <${Bar} repository=${there ? repository : ""} page=${page} repositories=${known.repositories} onHelp=${() => dialog.current?.showModal()} />
    ${there && html`<${Progress} repository=${repository} />`}
    <${Boundary} of=${page + rest}>${body}<//>
    <${Help} dialog=${dialog} />
  `;
}

const root = document.querySelector("#app");
root.textContent = "";
render(html`<${App} />`, root);
