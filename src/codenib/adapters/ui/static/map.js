// The map: files as areas, folders that use each other, and the calls around a symbol.

import { Calls, Modules } from "./graph.js";
import { address, go, html, number, useAsk, useEffect, useMemo, useRef, useState, visible } from "./lib.js";
import { Problem, Snapshot } from "./parts.js";
import { ageColour, colourOf, LEGENDS, layout } from "./treemap.js";

const MOST = 3000; // areas that are drawn; the rest is one area a folder
const SHADES = [
  ["change", "recent change"],
  ["used", "references in"],
  ["tests", "tests"],
  ["language", "language"],
];
const KINDS = [
  ["", "Files"],
  ["modules", "Dependencies"],
  ["calls", "Calls"],
];

export function MapPage({ repository, params }) {
  const change = (more, options = {}) => go(address(repository, "map", "", { ...params, ...more }), options);
  return html`<main id="main" class="map-page">
    <div class="head">
      <h1 class="hidden">Map of ${visible(repository)}</h1>
      <span class="switch" role="group" aria-label="What is drawn">${KINDS.map(([name, title]) => html`<button key=${name} type="button" aria-pressed=${(params.show ?? "") === name ? "true" : "false"} onClick=${() => change({ show: name })}>${title}</button>`)}</span>
      ${!params.show && html`<label class="choice">shade by <select value=${params.shade ?? "change"} onChange=${(event) => change({ shade: event.target.value }, { replace: true })}>${SHADES.map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}</select></label>`}
    </div>
    ${
      params.show === "modules"
        ? html`<${Modules} repository=${repository} params=${params} change=${change} />`
        : params.show === "calls"
          ? html`<${Calls} repository=${repository} params=${params} change=${change} />`
          : html`<${Files} repository=${repository} params=${params} change=${change} />`
    }
  </main>`;
}

function Files({ repository, params, change }) {
  const folder = params.folder ?? "";
  const shade = params.shade ?? "change";
  const { data, error, waiting } = useAsk(repository, "overview", { folder, k: MOST });
  if (error && !waiting) return html`<div class="wrap"><${Problem} error=${error} /></div>`;
  if (!data) return html`<p class="wrap quiet">Measuring…</p>`;
  const left = data.rest.reduce((sum, each) => sum + each.files, 0);
  return html`
    <p class="summary inset">
      <${Up} folder=${folder} change=${change} />
      <span><b>${number(data.total)}</b> files, <b>${number(data.lines)}</b> lines</span>
      ${left > 0 && html`<span class="dim">${number(left)} short files are one area a folder</span>`}
      ${data.unmeasured > 0 && html`<span class="dim">${number(data.unmeasured)} files are in no view</span>`}
      <${Snapshot} reply=${data} />
      ${data.note && shade === "used" && html`<span class="note">${visible(data.note)}</span>`}
    </p>
    <${Treemap} repository=${repository} data=${data} folder=${folder} shade=${shade} change=${change} />
    <${Legend} data=${data} shade=${shade} />
    <${Largest} repository=${repository} data=${data} folder=${folder} change=${change} />`;
}

function Up({ folder, change }) {
  if (!folder) return null;
  const parts = folder.split("/");
  return html`<nav class="crumbs" aria-label="Folder"><button type="button" class="chip" onClick=${() => change({ folder: "" })}>all</button>${parts.map((part, at) => html` / <button type="button" key=${at} class="chip" aria-current=${at === parts.length - 1 ? "true" : undefined} onClick=${() => change({ folder: parts.slice(0, at + 1).join("/") })}>${visible(part)}</button>`)}</nav>`;
}

function Treemap({ repository, data, folder, shade, change }) {
  const canvas = useRef();
  const [width, resize] = useState(1200);
  const [over, hover] = useState(null);
  const height = Math.max(320, Math.round(width * 0.5));
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => resize(Math.round(entry.contentRect.width)));
    watcher.observe(canvas.current.parentElement);
    return () => watcher.disconnect();
  }, []);
  const drawn = useMemo(() => layout(data, folder, width, height), [data, folder, width]);
  useEffect(
    () => paint(canvas.current, drawn, { width, height, shade, data, over }),
    [drawn, shade, over, document.documentElement.dataset.theme],
  );
  const at = (event) => {
    const box = canvas.current.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const inside = (each) => each.x <= x && x < each.x + each.w && each.y <= y && y < each.y + each.h;
    return drawn.folders.find((each) => inside(each) && y < each.y + each.title) ?? drawn.areas.find(inside);
  };
  const open = (event) => {
    const area = at(event);
    if (!area) return;
    if (area.file) go(address(repository, "code", area.path));
    else if (area.path !== folder) change({ folder: area.path });
  };
  return html`<div class="treemap">
    <canvas ref=${canvas} role="img" aria-label=${`${number(data.items.length)} files as areas by lines, shaded by ${shade}; the list below has the largest`} onMouseMove=${(event) => hover(at(event) ?? null)} onMouseLeave=${() => hover(null)} onClick=${open}></canvas>
    <p class="dim told" aria-hidden="true">${over ? describe(over) : "A click opens a folder or a file."}</p>
  </div>`;
}

function describe({ path, file, lines, files }) {
  if (!file) return `${visible(path)}: ${number(files)} files, ${number(lines)} lines`;
  const parts = [`${number(lines)} lines`, file.language];
  parts.push(
    file.last_change == null
      ? "last change not known"
      : `last changed ${new Date(file.last_change * 1000).toISOString().slice(0, 10)}, ${number(file.commits)} commits`,
  );
  parts.push(file.used == null ? "references not known" : `${number(file.used)} references in`);
  return `${visible(path)}: ${[...parts, ...file.marks].join(", ")}`;
}

function paint(canvas, drawn, { width, height, shade, data, over }) {
  const ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const ink = (name) => style.getPropertyValue(`--${name}`).trim();
  const colour = colourOf(shade, data, ink);
  pen.scale(ratio, ratio);
  pen.fillStyle = ink("paper");
  pen.fillRect(0, 0, width, height);
  for (const area of drawn.areas) {
    pen.fillStyle = colour(area);
    pen.fillRect(area.x, area.y, Math.max(0.5, area.w - 0.7), Math.max(0.5, area.h - 0.7));
  }
  pen.textBaseline = "middle";
  pen.font = `11px ${ink("text")}`;
  for (const folder of drawn.folders) {
    pen.strokeStyle = ink("paper");
    pen.lineWidth = folder.depth > 1 ? 1 : 2;
    pen.strokeRect(folder.x, folder.y, folder.w, folder.h);
    if (!folder.title) continue;
    pen.fillStyle = ink("sheet");
    pen.fillRect(folder.x, folder.y, folder.w - 1, folder.title);
    pen.fillStyle = ink("ink");
    write(pen, folder.name, folder.x + 4, folder.y + folder.title / 2, folder.w - 8);
  }
  for (const area of drawn.areas) {
    if (area.w < 56 || area.h < 16) continue;
    pen.fillStyle = "#1c2024";
    write(pen, area.name, area.x + 4, area.y + 9, area.w - 8);
  }
  if (over) {
    pen.strokeStyle = ink("ink");
    pen.lineWidth = 2;
    pen.strokeRect(over.x + 1, over.y + 1, over.w - 2, over.h - 2);
  }
}

function write(pen, text, x, y, room) {
  let told = visible(text);
  if (pen.measureText(told).width > room) {
    while (told.length > 2 && pen.measureText(`${told}…`).width > room) told = told.slice(0, -1);
    told += "…";
  }
  if (told.length > 2) pen.fillText(told, x, y);
}

function Legend({ data, shade }) {
  return html`<p class="legend">${LEGENDS[shade](data).map(([colour, words]) => html`<span key=${words}><span class="swatch" style=${{ background: colour }} aria-hidden="true"></span>${words}</span>`)}</p>`;
}

/** The same as the drawing, to read: what lies directly below the folder, largest first. */
function Largest({ repository, data, folder, change }) {
  const sums = new Map();
  const start = folder ? folder.length + 1 : 0;
  const add = (path, files, lines, last, used) => {
    const slash = path.indexOf("/", start);
    const name = slash < 0 ? path : path.slice(0, slash);
    const row = sums.get(name) ?? { name, folder: slash >= 0, files: 0, lines: 0, last: 0, used: 0 };
    sums.set(name, {
      ...row,
      folder: row.folder || slash >= 0,
      files: row.files + files,
      lines: row.lines + lines,
      last: Math.max(row.last, last ?? 0),
      used: used == null ? row.used : (row.used ?? 0) + used,
    });
  };
  for (const each of data.items) add(each.path, 1, each.lines, each.last_change, each.used);
  for (const each of data.rest) add(`${each.path}/`, each.files, each.lines, null, null);
  const rows = [...sums.values()].sort((one, other) => other.lines - one.lines).slice(0, 24);
  return html`<div class="inset"><table><caption class="hidden">What lies here, largest first</caption>
    <thead><tr><th scope="col">path</th><th scope="col">files</th><th scope="col">lines</th><th scope="col">last change</th><th scope="col">references in</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${row.name}><th scope="row">${row.folder ? html`<button type="button" class="link" onClick=${() => change({ folder: row.name })}>${visible(row.name)}/</button>` : html`<a href=${address(repository, "code", row.name)}>${visible(row.name)}</a>`}</th><td>${number(row.files)}</td><td>${number(row.lines)}</td><td>${row.last ? html`<span class="swatch" style=${{ background: ageColour(row.last) }} aria-hidden="true"></span>${new Date(row.last * 1000).toISOString().slice(0, 10)}` : "not known"}</td><td>${row.used ? number(row.used) : html`<span class="dim">${data.note ? "not known" : "0"}</span>`}</td></tr>`)}</tbody>
  </table></div>`;
}
