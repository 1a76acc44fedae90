// What every part of the page uses: elements, the address, questions to the server, and its events.

import htm from "./vendor/htm.js";
import { useEffect, useMemo, useRef, useState } from "./vendor/hooks.js";
import { Component, h, render } from "./vendor/preact.js";

export const html = htm.bind(h);
export { Component, render, useEffect, useMemo, useRef, useState };

// ---- text of a repository

const CONTROL = /(?![\t\n])[\p{Cc}\p{Cf}]/gu;

/** A text whose control and direction characters are written out: what is drawn is what is there. */
export function visible(text) {
  return text.replace(
    CONTROL,
    (each) => `⟨U+${each.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

export const number = (value) => Number(value).toLocaleString("en");
export const milliseconds = (seconds) => {
  const ms = seconds * 1000;
  return ms >= 1000 ? `${seconds.toFixed(1)} s` : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
};
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  for (const unit of ["kB", "MB"]) {
    bytes /= 1000;
    if (bytes < 1000) return `${bytes.toFixed(1)} ${unit}`;
  }
  return `${(bytes / 1000).toFixed(1)} GB`;
}
export function ago(date) {
  const days = (Date.now() - new Date(date).getTime()) / 86_400_000;
  if (days < 1) return "today";
  if (days < 60) return `${Math.floor(days)} days ago`;
  if (days < 730) return `${Math.floor(days / 30.4)} months ago`;
  return `${Math.floor(days / 365.25)} years ago`;
}

// ---- the address: /ui/REPOSITORY/PAGE/REST?PARAMETERS

const decode = (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

export function parseAddress() {
  const [, , repository = "", page = "", ...rest] = location.pathname.split("/");
  return {
    repository: decode(repository),
    page,
    rest: rest.map(decode).join("/"),
    params: Object.fromEntries(new URLSearchParams(location.search)),
  };
}

export function address(repository, page, rest = "", params = {}) {
  const path = [
    "/ui",
    encodeURIComponent(repository),
    page,
    ...(rest ? rest.split("/").map(encodeURIComponent) : []),
  ];
  const query = new URLSearchParams(
    Object.entries(params).filter(([, value]) => value !== "" && value != null && value !== false),
  );
  const text = query.toString();
  return path.join("/") + (text ? `?${text}` : "");
}

export const codeAddress = (repository, path, line, more = {}) =>
  address(repository, "code", path, { line, ...more });

const listeners = new Set();
const notify = () => {
  for (const each of listeners) each();
};
addEventListener("popstate", notify);

/** Go to an address of the page; `replace` leaves no step behind for the back button. */
export function go(to, { replace = false } = {}) {
  if (to === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  notify();
}

export function useAddress() {
  const [value, set] = useState(parseAddress);
  useEffect(() => {
    const update = () => set(parseAddress());
    listeners.add(update);
    return () => listeners.delete(update);
  }, []);
  return value;
}

// Links of the page are followed without loading it again; other keys and buttons do what they always do.
addEventListener("click", (event) => {
  if (
    event.defaultPrevented ||
    event.button ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  const link = event.target.closest?.("a[href^='/ui/']");
  if (!link || link.target || link.hasAttribute("download")) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});

// ---- questions

export class Failure extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.kind = error.kind;
    this.hint = error.hint;
  }
}

const queryOf = (params) => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === "" || value == null || value === false) continue;
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, each);
  }
  return query.toString();
};

/** The answer of the server: what the command of that name prints with --json. */
export async function ask(repository, question, params = {}, signal = undefined) {
  const path = repository ? `${encodeURIComponent(repository)}/${question}` : question;
  const response = await fetch(`/ui/api/${path}?${queryOf(params)}`, { signal });
  const data = await response.json();
  if (!response.ok)
    throw new Failure(response.status, data.error ?? { message: response.statusText, kind: "", hint: "" });
  return data;
}

/**
 * The answer to a question, asked again when it or the files change. While a new one is on its way the last one
 * stays; a question that is no longer wanted is given up.
 */
export function useAsk(repository, question, params, { when = true, delay = 0, live = true } = {}) {
  const [state, set] = useState({ data: null, error: null, waiting: when, key: "" });
  const changed = useLive(repository, live ? answerVersion : () => 0);
  const key = JSON.stringify([repository, question, params]);
  useEffect(() => {
    if (!when) {
      set({ data: null, error: null, waiting: false, key });
      return undefined;
    }
    const control = new AbortController();
    let retry;
    set((before) => ({ ...before, waiting: true, data: before.key === key || delay ? before.data : null }));
    const send = async () => {
      try {
        const data = await ask(repository, question, params, control.signal);
        set({ data, error: null, waiting: false, key });
      } catch (error) {
        if (error.name === "AbortError") return;
        const waiting = error.status === 409 && liveState(repository).state !== "ready";
        set({ data: null, error, waiting, key });
        if (waiting) retry = setTimeout(send, 500); // until the first views are there
      }
    };
    const timer = setTimeout(send, delay);
    return () => {
      clearTimeout(timer);
      clearTimeout(retry);
      control.abort();
    };
  }, [key, when, changed]);
  return state;
}

// ---- events of the server, by repository

const START = {
  state: "starting",
  stage: "",
  done: 0,
  total: 0,
  edits: 0,
  snapshot: "",
  views: {},
  watching: false,
  error: "",
  online: true,
};
const feeds = new Map();

function feedOf(repository) {
  let feed = feeds.get(repository);
  if (!feed) {
    feed = { state: START, log: [], listeners: new Set() };
    feeds.set(repository, feed);
    const source = new EventSource(`/ui/api/${encodeURIComponent(repository)}/events`);
    const publish = (state) => {
      const before = feed.state;
      feed.state = state;
      feed.log = [...tell(before, state), ...feed.log].slice(0, 60);
      for (const each of feed.listeners) each();
    };
    source.onmessage = (event) => publish({ ...JSON.parse(event.data), online: true });
    source.onerror = () => publish({ ...feed.state, online: false });
  }
  return feed;
}

/** What a change of state means, in words, for the live feed. */
function tell(before, after) {
  const lines = [];
  const at = new Date();
  if (!after.online && before.online) lines.push({ at, what: "the server does not answer" });
  if (before === START) return lines;
  if (after.edits !== before.edits) lines.push({ at, what: "files changed" });
  if (after.stage && after.stage !== before.stage) lines.push({ at, what: after.stage });
  for (const [view, status] of Object.entries(after.views)) {
    if (before.views[view] !== status) lines.push({ at, what: `${view}: ${status}` });
  }
  if (after.snapshot && after.snapshot !== before.snapshot)
    lines.push({ at, what: `published ${after.snapshot.slice(0, 8)}` });
  if (after.state !== before.state) lines.push({ at, what: `the server is ${after.state}` });
  return lines.reverse();
}

export const liveState = (repository) => feedOf(repository).state;
export const liveLog = (repository) => feedOf(repository).log;
const answerVersion = (state) => `${state.edits} ${state.state === "ready"} ${JSON.stringify(state.views)}`;

/** A part of the repository's live state, as it changes. */
export function useLive(repository, choose = (state) => state) {
  const [, again] = useState(0);
  const value = repository ? choose(feedOf(repository).state) : choose(START);
  const last = useRef(value);
  last.current = value;
  useEffect(() => {
    if (!repository) return undefined;
    const feed = feedOf(repository);
    const update = () => {
      if (choose(feed.state) !== last.current) again((count) => count + 1);
    };
    feed.listeners.add(update);
    update();
    return () => feed.listeners.delete(update);
  }, [repository]);
  return value;
}
