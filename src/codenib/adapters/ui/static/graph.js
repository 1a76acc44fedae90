// Graphs by hand, in SVG: folders and files that use each other, and the calls around a symbol.

import { address, codeAddress, html, number, useAsk, useState, visible } from "./lib.js";
import { Claim, Problem, Snapshot } from "./parts.js";

const BOX = { w: 168, h: 40 };
const GAP = { x: 34, y: 74 };
const TOP = 40; // lines between boxes of the first row bend above it

const short = (text, most) => (text.length > most ? `…${text.slice(1 - most)}` : text);

// ---- folders and files

export function Modules({ repository, params, change }) {
  const folder = params.folder ?? "";
  const opened = params.open ? params.open.split(",") : [];
  const { data, error, waiting } = useAsk(repository, "modules", {
    folder,
    open: opened,
    tests: params.tests,
    k: 40,
  });
  if (error && !waiting) return html`<div class="wrap"><${Problem} error=${error} /></div>`;
  if (!data) return html`<p class="wrap quiet">Looking…</p>`;
  const open = (path) => change({ open: [...new Set([...data.opened, path])].join(",") });
  const close = (path) =>
    change({
      open: data.opened.filter((each) => each !== path && !each.startsWith(`${path}/`)).join(",") || ".",
    });
  return html`
    <p class="summary inset">
      <span><b>${number(data.items.length)}</b> of ${number(data.total)} folders and files, <b>${number(data.uses.length)}</b> of ${number(data.total_uses)} uses between them</span>
      ${data.cycles > 0 && html`<span class="note-inline">${number(data.cycles)} ${data.cycles > 1 ? "cycles" : "cycle"}</span>`}
      <label class="choice"><input type="checkbox" checked=${params.tests === "include"} onChange=${(event) => change({ tests: event.target.checked ? "include" : "" })} /> with tests</label>
      <${Snapshot} reply=${data} />
      ${data.note && html`<span class="note">${visible(data.note)}</span>`}
    </p>
    ${data.opened.length > 0 && html`<p class="inset kinds">open: ${data.opened.filter((each) => each !== ".").map((each) => html`<button type="button" key=${each} class="chip" title="Close this folder" onClick=${() => close(each)}>${visible(each)} ×</button>`)}</p>`}
    <${ModuleDrawing} repository=${repository} data=${data} open=${open} />
    <p class="inset dim">Above: what mostly uses others. Below: what is mostly used. A click opens a folder, or a file's code. Thick lines are many uses; red ones go both ways.</p>`;
}

/** Rows by how much a module uses others rather than being used; within a row, near what it uses. */
function arrange(items, uses, perRow) {
  const share = (each) => (each.uses - each.used) / Math.max(1, each.uses + each.used);
  const order = [...items].sort(
    (one, other) => share(other) - share(one) || (one.path < other.path ? -1 : 1),
  );
  const rows = [];
  const count = Math.max(1, Math.ceil(order.length / perRow));
  const size = Math.ceil(order.length / count);
  for (let at = 0; at < order.length; at += size) rows.push(order.slice(at, at + size));
  const near = new Map(items.map((each) => [each.path, []]));
  for (const { source, to, often } of uses) {
    near.get(source).push([to, Math.log2(1 + often)]);
    near.get(to).push([source, Math.log2(1 + often)]);
  }
  const x = new Map();
  const settle = () => {
    for (const row of rows) for (const [at, each] of row.entries()) x.set(each.path, (at + 0.5) / row.length);
  };
  settle();
  for (let turn = 0; turn < 8; turn++) {
    for (const row of rows) {
      const pull = new Map(row.map((each) => [each.path, mean(near.get(each.path), x, x.get(each.path))]));
      row.sort((one, other) => pull.get(one.path) - pull.get(other.path));
    }
    settle();
  }
  return rows;
}

function mean(others, x, own) {
  let sum = own;
  let weight = 1;
  for (const [name, often] of others) {
    sum += x.get(name) * often;
    weight += often;
  }
  return sum / weight;
}

function ModuleDrawing({ repository, data, open }) {
  const [over, hover] = useState("");
  const perRow = Math.max(3, Math.min(7, Math.floor((innerWidth - 60) / (BOX.w + GAP.x))));
  const rows = arrange(data.items, data.uses, perRow);
  const width = perRow * (BOX.w + GAP.x) + GAP.x;
  const height = rows.length * (BOX.h + GAP.y) - GAP.y + TOP + 12;
  const spots = new Map();
  rows.forEach((row, down) => {
    const start = (width - row.length * (BOX.w + GAP.x) + GAP.x) / 2;
    for (const [at, each] of row.entries())
      spots.set(each.path, { x: start + at * (BOX.w + GAP.x), y: TOP + down * (BOX.h + GAP.y) });
  });
  const touches = ({ source, to }) => !over || source === over || to === over;
  const many = Math.max(1, ...data.uses.map((each) => each.often));
  return html`<div class="drawing" tabindex="0" role="region" aria-label="Drawing of dependencies">
    <svg viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="group" aria-label=${`${data.items.length} folders and files and their uses of each other`}>
      <g aria-hidden="true">${data.uses.map((each) => html`<path key=${`${each.source} ${each.to}`} class=${`edge ${each.mutual ? "mutual" : ""} ${touches(each) ? "" : "faded"}`} d=${curve(spots.get(each.source), spots.get(each.to))} stroke-width=${0.6 + (3.4 * Math.log1p(each.often)) / Math.log1p(many)} ><title>${`${each.source} uses ${each.to} ${each.often}×`}</title></path>`)}</g>
      ${data.items.map((each) => html`<${ModuleBox} key=${each.path} module=${each} spot=${spots.get(each.path)} faded=${over && over !== each.path && !data.uses.some((use) => touches(use) && (use.source === each.path || use.to === each.path))} repository=${repository} open=${open} hover=${hover} />`)}
    </svg>
  </div>`;
}

function curve(from, to) {
  const [x1, x2] = [from.x + BOX.w / 2, to.x + BOX.w / 2];
  const down = to.y > from.y;
  const level = to.y === from.y;
  const y1 = from.y + (down ? BOX.h : 0);
  const y2 = level ? to.y : to.y + (down ? 0 : BOX.h);
  const bend = level ? -34 : (down ? 1 : -1) * Math.max(26, Math.abs(y2 - y1) / 2);
  return `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${level ? y2 + bend : y2 - bend} ${x2} ${y2}`;
}

function ModuleBox({ module, spot, faded, repository, open, hover }) {
  const { path, kind, files, lines, used, uses, cycle } = module;
  const name = path.split("/").slice(-2).join("/");
  const words = `${path}: ${number(files)} files, ${number(lines)} lines, used ${number(used)} times, uses others ${number(uses)} times${cycle ? `, in cycle ${cycle}` : ""}`;
  const body = html`<title>${words}</title>
    <rect x=${spot.x} y=${spot.y} width=${BOX.w} height=${BOX.h} rx="7" class=${`box ${kind} ${cycle ? "ring" : ""}`}></rect>
    <text x=${spot.x + 10} y=${spot.y + 17} class="title">${visible(short(name, 22))}${kind === "folder" ? "/" : ""}</text>
    <text x=${spot.x + 10} y=${spot.y + 32} class="sub">${number(lines)} lines${cycle ? ` · cycle ${cycle}` : ""}</text>`;
  const events = {
    onMouseEnter: () => hover(path),
    onMouseLeave: () => hover(""),
    onFocus: () => hover(path),
    onBlur: () => hover(""),
  };
  if (kind === "file")
    return html`<a href=${codeAddress(repository, path)} class=${faded ? "faded" : undefined} ...${events}>${body}</a>`;
  const press = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    open(path);
  };
  return html`<g role="button" tabindex="0" class=${faded ? "faded button" : "button"} onClick=${() => open(path)} onKeyDown=${press} ...${events}>${body}</g>`;
}

// ---- calls around a symbol

export function Calls({ repository, params, change }) {
  const [typed, type] = useState(params.symbol ?? "");
  const depth = Number(params.depth || 1);
  const asked = { where: params.symbol, depth, k: depth > 1 ? 40 : 20 };
  const when = Boolean(params.symbol);
  const callers = useAsk(repository, "callers", asked, { when });
  const callees = useAsk(repository, "callees", asked, { when });
  const submit = (event) => {
    event.preventDefault();
    change({ symbol: typed });
  };
  return html`
    <form class="inset summary" onSubmit=${submit}>
      <label class="choice">function <input type="text" class="short wide" value=${typed} placeholder="App.run, or src/app.py:8" onInput=${(event) => type(event.target.value)} /></label>
      <label class="choice">steps <select value=${String(depth)} onChange=${(event) => change({ depth: event.target.value })}><option>1</option><option>2</option><option>3</option></select></label>
      <button type="submit">Draw</button>
    </form>
    ${!when && html`<p class="inset quiet">Name a function: its callers stand left of it, what it calls right.</p>`}
    ${[callers, callees].map(({ error }, at) => error && html`<div class="inset" key=${at}><${Problem} error=${error} /></div>`)}
    ${callers.data && callees.data && html`<${CallDrawing} repository=${repository} before=${callers.data} after=${callees.data} />`}`;
}

function columns(reply) {
  const found = [];
  for (const each of reply.items) {
    found[each.depth - 1] = found[each.depth - 1] ?? [];
    found[each.depth - 1].push(each);
  }
  return found;
}

function CallDrawing({ repository, before, after }) {
  const [row, wide, gap] = [34, 236, 110];
  const left = columns(before).reverse();
  const right = columns(after);
  const centre = after.start ?? before.start;
  const all = [...left, [centre], ...right];
  const tallest = Math.max(...all.map((each) => each.length));
  const width = all.length * (wide + gap) - gap + 24;
  const height = tallest * row + 30;
  const spots = new Map();
  all.forEach((column, at) => {
    const start = 14 + ((tallest - column.length) * row) / 2;
    column.forEach((each, down) => {
      if (!spots.has(each.id)) spots.set(each.id, { x: 12 + at * (wide + gap), y: start + down * row });
    });
  });
  const edges = new Map();
  for (const edge of [...before.edges, ...after.edges])
    if (spots.has(edge.source) && spots.has(edge.to)) edges.set(`${edge.source} ${edge.to}`, edge);
  const line = ({ source, to }) => {
    const [one, other] = [spots.get(source), spots.get(to)];
    const forward = one.x <= other.x;
    const [x1, x2] = forward ? [one.x + wide, other.x] : [one.x, other.x + wide];
    const bend = forward ? gap / 2 : -gap / 2;
    return `M${x1} ${one.y + 13} C${x1 + bend} ${one.y + 13} ${x2 - bend} ${other.y + 13} ${x2} ${other.y + 13}`;
  };
  const nodes = [...new Map(all.flat().map((each) => [each.id, each])).values()];
  return html`<div class="inset"><div class="two"><div><h2>Callers</h2><${Claim} reply=${before} /></div><div><h2>Callees</h2><${Claim} reply=${after} /></div></div></div>
    <div class="drawing" tabindex="0" role="region" aria-label="Drawing of calls"><svg viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="group" aria-label=${`Calls around ${visible(centre.qualified)}`}>
      <g aria-hidden="true">${[...edges.values()].map((edge) => html`<path key=${`${edge.source} ${edge.to}`} class="edge" d=${line(edge)} stroke-width=${1 + Math.log2(edge.often || 1) / 2}><title>${`${edge.kind} at ${edge.path}:${edge.line}`}</title></path>`)}</g>
      ${nodes.map((each) => {
        const spot = spots.get(each.id);
        const around = address(repository, "map", "", { show: "calls", symbol: `${each.path}:${each.line}` });
        return html`<a key=${each.id} href=${each.id === centre.id ? codeAddress(repository, each.path, each.line) : around}><title>${`${each.kind} ${visible(each.qualified)}\n${visible(each.path)}:${each.line}`}</title>
          <rect x=${spot.x} y=${spot.y} width=${wide} height="26" rx="6" class=${each.id === centre.id ? "box ring" : "box"}></rect>
          <text x=${spot.x + 8} y=${spot.y + 17} class="title">${visible(short(each.qualified, 34))}</text></a>`;
      })}
    </svg></div>
    <p class="inset dim">A click goes to that function; one on the middle opens its code.${before.truncated || after.truncated ? " More exist than are drawn." : ""}</p>`;
}
