// Files in, areas out: a squarified treemap by lines, and the colours of what one chooses. No library.

const TITLE = 16;
const PAD = 1;
const DAY = 86_400;
const RECENT = ["#f4c95d", "#d7c98a", "#b9cbb0", "#a9c4c4", "#b4bdc9", "#c6c9d2"];
const AGES = [7, 30, 182, 730, 1825];
const AGE_WORDS = ["a week", "a month", "half a year", "two years", "five years", "longer ago"];
const USES = ["#d9dde0", "#c3d8d8", "#a3cdd2", "#7dbbc6", "#57a5b5", "#3f8ca0"];
const TONES = [
  "#9cc3d5",
  "#e3b98f",
  "#a9cfa4",
  "#d3aecb",
  "#e5d38f",
  "#a6b4e0",
  "#e0a6a0",
  "#a5d0c5",
  "#c9c1a9",
  "#bfa9d8",
];
const PLAIN = "#c9cdd2";

/** The areas of a folder: files, the rest of folders, and the frames of folders with their titles. */
export function layout(data, folder, width, height) {
  const root = tree(data, folder);
  const drawn = { areas: [], folders: [] };
  place(root, { x: 0, y: 0, w: width, h: height }, 0, drawn);
  return drawn;
}

function tree(data, folder) {
  const root = { path: folder, name: folder || "all", lines: 0, files: 0, children: new Map() };
  const start = folder ? folder.length + 1 : 0;
  const add = (path, leaf) => {
    let node = root;
    const parts = path.slice(start).split("/");
    for (const [at, part] of parts.entries()) {
      node.lines += leaf.lines;
      node.files += leaf.files;
      if (at === parts.length - 1)
        node.children.set(`${part}${leaf.file ? "" : "/rest"}`, { ...leaf, path, name: part });
      else {
        const inside = path.slice(0, start) + parts.slice(0, at + 1).join("/");
        if (!node.children.has(part))
          node.children.set(part, { path: inside, name: part, lines: 0, files: 0, children: new Map() });
        node = node.children.get(part);
      }
    }
  };
  for (const file of data.items) add(file.path, { file, lines: file.lines, files: 1 });
  for (const rest of data.rest)
    add(`${rest.path}/…`.replace(/^\//, ""), { lines: rest.lines, files: rest.files });
  return root;
}

function place(node, box, depth, drawn) {
  if (box.w < 2 || box.h < 2) return;
  if (!node.children) {
    drawn.areas.push({ ...node, ...box });
    return;
  }
  const title = depth > 0 && box.w > 60 && box.h > 34 ? TITLE : 0;
  if (depth > 0)
    drawn.folders.unshift({
      path: node.path,
      name: node.name,
      lines: node.lines,
      files: node.files,
      depth,
      title,
      ...box,
    });
  const inner = { x: box.x + PAD, y: box.y + title, w: box.w - 2 * PAD, h: box.h - title - PAD };
  const rows = [...node.children.values()]
    .filter((each) => each.lines > 0)
    .sort((one, other) => other.lines - one.lines);
  for (const [child, area] of squarify(rows, inner)) place(child, area, depth + 1, drawn);
}

/** Rows of areas that are as square as can be (Bruls, Huizing and van Wijk). */
export function squarify(rows, box) {
  const placed = [];
  let { x, y, w, h } = box;
  let total = rows.reduce((sum, each) => sum + each.lines, 0);
  let at = 0;
  while (at < rows.length && w > 0 && h > 0 && total > 0) {
    const side = Math.min(w, h);
    const scale = (w * h) / total;
    let end = at + 1;
    let sum = rows[at].lines;
    while (
      end < rows.length &&
      worst(rows, at, end + 1, sum + rows[end].lines, side, scale) <= worst(rows, at, end, sum, side, scale)
    ) {
      sum += rows[end].lines;
      end += 1;
    }
    const thick = (sum * scale) / side;
    let along = 0;
    for (const each of rows.slice(at, end)) {
      const long = (each.lines / sum) * side;
      placed.push([
        each,
        w >= h ? { x, y: y + along, w: thick, h: long } : { x: x + along, y, w: long, h: thick },
      ]);
      along += long;
    }
    if (w >= h) {
      x += thick;
      w -= thick;
    } else {
      y += thick;
      h -= thick;
    }
    total -= sum;
    at = end;
  }
  return placed;
}

function worst(rows, from, to, sum, side, scale) {
  const area = sum * scale;
  const large = rows[from].lines * scale;
  const small = rows[to - 1].lines * scale;
  return Math.max((side * side * large) / (area * area), (area * area) / (side * side * small));
}

export function ageColour(seconds) {
  const days = Date.now() / 1000 / DAY - seconds / DAY;
  const at = AGES.findIndex((limit) => days <= limit);
  return RECENT[at < 0 ? AGES.length : at];
}

const useColour = (count) =>
  USES[Math.min(USES.length - 1, count ? 1 + Math.floor(Math.log10(count) * 1.3) : 0)];
const isTest = (file) => file.marks.includes("test");

function languages(data) {
  const counts = new Map();
  for (const file of data.items)
    counts.set(file.language || "other", (counts.get(file.language || "other") ?? 0) + file.lines);
  return [...counts].sort((one, other) => other[1] - one[1]).map(([name]) => name);
}

/** What an area is filled with. */
export function colourOf(shade, data) {
  const known = shade === "language" ? languages(data) : [];
  const by = {
    change: (file) => (file.last_change == null ? PLAIN : ageColour(file.last_change)),
    used: (file) => (file.used == null ? PLAIN : useColour(file.used)),
    tests: (file) => (isTest(file) ? "#a9cfa4" : "#9cc3d5"),
    language: (file) => TONES[known.indexOf(file.language || "other")] ?? PLAIN,
  };
  const choose = by[shade] ?? by.change;
  return (area) => (area.file ? choose(area.file) : PLAIN);
}

export const LEGENDS = {
  change: () => [...RECENT.map((colour, at) => [colour, AGE_WORDS[at]]), [PLAIN, "not known"]],
  used: () => [
    ...USES.map((colour, at) => [
      colour,
      ["none", "1 to 5", "6 to 34", "35 to 200", "200 to 1,200", "more"][at],
    ]),
    [PLAIN, "not known"],
  ],
  tests: (data) => {
    const lines = data.items.filter(isTest).reduce((sum, file) => sum + file.lines, 0);
    return [
      ["#a9cfa4", `tests: ${Math.round((100 * lines) / Math.max(1, data.lines))} % of the lines`],
      ["#9cc3d5", "other"],
      [PLAIN, "not listed one by one"],
    ];
  },
  language: (data) => [
    ...languages(data)
      .slice(0, TONES.length)
      .map((name, at) => [TONES[at], name]),
    [PLAIN, "other"],
  ],
};
