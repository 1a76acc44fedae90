package main

// The runs of a file merged into its line of facts: same input, same bytes.

import (
	"bufio"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
)

// mergeOccs joins what the variants of a package say: the narrowest answers, all list.
func (e *engine) mergeOccs(path string, runs []*fileRun) []occ {
	var out []occ
	var keys [][]int32
	at := map[[2]int32]int{}
	for _, run := range runs {
		for _, o := range run.occs {
			place := [2]int32{o.line, o.col}
			index, ok := at[place]
			if !ok {
				if !run.answers {
					o.defs, o.asks = noList, noList
				}
				if o.asks == noList {
					o.asks = o.keys // keys grow below, what is asked does not
				}
				index = len(out)
				at[place] = index
				out, keys = append(out, o), append(keys, nil)
			}
			keys[index] = e.collectKeys(keys[index], run, path, o)
		}
	}
	for i := range out {
		out[i].keys = noList
		if len(keys[i]) > 0 {
			out[i].keys = e.table.list(keys[i]...)
		}
		if out[i].asks == out[i].keys {
			out[i].asks = noList
		}
	}
	slices.SortFunc(out, func(a, b occ) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col)) })
	return out
}

// collectKeys adds everything that the occurrence is listed under.
func (e *engine) collectKeys(into []int32, run *fileRun, path string, o occ) []int32 {
	add := func(key int32) {
		if !slices.Contains(into, key) {
			into = append(into, key)
		}
	}
	facts := e.byView[run.view]
	for _, k := range e.table.items(o.keys) {
		add(k)
		if local, ok := facts.locals[k]; ok && local.pkg == run.pkg {
			add(local.key)
		}
		e.portKeys(add, run, path, k)
	}
	if o.method >= 0 {
		for _, k := range facts.extra[usePlace{o.method, run.pkg}] {
			add(k)
		}
	}
	return into
}

// sortRuns puts the run first that answers.
func (e *engine) sortRuns(runs []*fileRun) {
	slices.SortStableFunc(runs, func(a, b *fileRun) int {
		if a.answers != b.answers {
			return map[bool]int{true: -1, false: 1}[a.answers]
		}
		x, y := e.byView[a.view].pathNames[a.pkg], e.byView[b.view].pathNames[b.pkg]
		return cmp.Or(cmp.Compare(a.view, b.view), cmp.Compare(a.width, b.width), cmp.Compare(x, y))
	})
}

func (e *engine) emit(out *bufio.Writer, file int32, claimed []int32) {
	runs := e.runs[file]
	l := &line{engine: e, index: map[int32]int{}}
	occs := e.mergeOccs(e.absolute(e.files[file]), runs)
	relations := e.relationsOf(runs, claimed)
	for _, o := range occs {
		for _, list := range []int32{o.defs, o.keys, o.asks} {
			l.want(e.table.items(list)...)
		}
	}
	for _, r := range relations {
		l.want(r.source, r.dest)
	}
	l.number()
	var nodes []node
	if len(runs) > 0 {
		nodes = runs[0].nodes
	}
	l.write(out, e.files[file], nodes, occs, relations)
}

// claims gives, for every file, the keys whose relations it writes: of its own declarations, and of outside ones that no
// file before it asks for.
func (e *engine) claims() [][]int32 {
	out := make([][]int32, len(e.files))
	taken := map[int32]bool{}
	for _, file := range e.inOrder() {
		claim := func(k int32) {
			t := e.table.targets[k]
			if t.file >= 0 && t.file != file || taken[k] || !e.isRelated(k) {
				return
			}
			taken[k] = true
			out[file] = append(out[file], k)
		}
		for _, run := range e.runs[file] {
			for _, k := range run.keys {
				claim(k)
				if local, ok := e.byView[run.view].locals[k]; ok && local.pkg == run.pkg {
					claim(local.key)
				}
				e.portKeys(claim, run, e.absolute(e.files[file]), k)
			}
			for _, k := range run.asks {
				if run.answers {
					claim(k)
				}
			}
		}
	}
	return out
}

func (e *engine) isRelated(key int32) bool {
	for _, facts := range e.byView {
		if len(facts.relations[key]) > 0 {
			return true
		}
	}
	return len(e.portLinks[key]) > 0
}

// inOrder lists the files that are there, by path.
func (e *engine) inOrder() []int32 {
	var out []int32
	for i, view := range e.viewOf {
		if view >= 0 {
			out = append(out, int32(i))
		}
	}
	slices.SortFunc(out, func(a, b int32) int { return cmp.Compare(e.files[a], e.files[b]) })
	return out
}

// relationsOf gathers the relations of a file.
func (e *engine) relationsOf(runs []*fileRun, claimed []int32) []relation {
	seen := map[relation]bool{}
	var out []relation
	add := func(all []relation) {
		for _, r := range all {
			if !seen[r] {
				seen[r] = true
				out = append(out, r)
			}
		}
	}
	for _, run := range runs {
		add(run.relations)
	}
	for _, k := range claimed {
		for _, facts := range e.byView {
			add(facts.relations[k])
		}
		add(e.portLinks[k])
	}
	return out
}

type line struct {
	*engine
	ids     []int32
	index   map[int32]int
	lists   map[int32]int
	written [][]int
}

func (l *line) want(ids ...int32) {
	for _, id := range ids {
		if l.table.dead[id] {
			l.lost.Store(true)
		}
		if _, ok := l.index[id]; !ok {
			l.index[id] = 0
			l.ids = append(l.ids, id)
		}
	}
}

func (l *line) number() {
	slices.SortFunc(l.ids, func(a, b int32) int {
		x, y := l.table.targets[a], l.table.targets[b]
		return cmp.Or(cmp.Compare(x.file, y.file), cmp.Compare(x.line, y.line), cmp.Compare(x.col, y.col), cmp.Compare(x.name, y.name))
	})
	for i, id := range l.ids {
		l.index[id] = i
	}
}

// list gives the number of a list in this line, in order of first use.
func (l *line) list(id int32) int {
	if id == noList {
		return -1
	}
	if n, ok := l.lists[id]; ok {
		return n
	}
	items := []int{}
	for _, target := range l.table.items(id) {
		items = append(items, l.index[target])
	}
	slices.Sort(items)
	l.lists[id] = len(l.written)
	l.written = append(l.written, items)
	return l.lists[id]
}

func (l *line) write(out *bufio.Writer, path string, nodes []node, occs []occ, relations []relation) {
	l.lists = map[int32]int{}
	b := append([]byte(`{"path":`), quote(path)...)
	b = append(b, `,"encoding":"utf-8","nodes":[`...)
	for i, n := range nodes {
		b = comma(b, i)
		b = append(b, '[')
		b = append(b, quote(n.name)...)
		b = append(append(append(b, ',', '"'), n.kind...), '"')
		local := int32(0)
		if n.local {
			local = 1
		}
		for _, x := range []int32{n.parent, n.line, n.col, n.endLine, n.endCol, n.selLine, n.selCol, n.selEnd, local} {
			b = strconv.AppendInt(append(b, ','), int64(x), 10)
		}
		b = append(b, ']')
	}
	b = append(b, `],"targets":[`...)
	for i, id := range l.ids {
		b = l.appendTarget(comma(b, i), l.table.targets[id])
	}
	b = append(b, `],"occurrences":[`...)
	for i, o := range occs {
		b = comma(b, i)
		for j, x := range []int{int(o.line), int(o.col), int(o.line), int(o.end), int(o.roles), l.list(o.defs), l.list(o.keys), l.list(o.asks)} {
			b = strconv.AppendInt(comma(b, j), int64(x), 10)
		}
	}
	b = append(b, `],"lists":[`...)
	for i, items := range l.written {
		b = append(comma(b, i), '[')
		for j, x := range items {
			b = strconv.AppendInt(comma(b, j), int64(x), 10)
		}
		b = append(b, ']')
	}
	b = append(b, `],"relations":[`...)
	b = l.appendRelations(b, relations)
	out.Write(append(b, "]}\n"...))
}

func (l *line) appendTarget(b []byte, t target) []byte {
	if t.file < 0 {
		return append(b, quote(t.name)...)
	}
	b = append(append(b, '['), quote(l.files[t.file])...)
	b = strconv.AppendInt(append(b, ','), int64(t.line), 10)
	b = strconv.AppendInt(append(b, ','), int64(t.col), 10)
	return append(b, ']')
}

func (l *line) appendRelations(b []byte, relations []relation) []byte {
	slices.SortFunc(relations, func(x, y relation) int {
		return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(l.index[x.source], l.index[y.source]),
			cmp.Compare(l.index[x.dest], l.index[y.dest]))
	})
	for i, r := range relations {
		b = append(append(append(comma(b, i), '[', '"'), r.kind...), '"')
		b = strconv.AppendInt(append(b, ','), int64(l.index[r.source]), 10)
		b = strconv.AppendInt(append(b, ','), int64(l.index[r.dest]), 10)
		b = append(b, ']')
	}
	return b
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

func quote(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}

func sortedIDs(ids []int32) []int32 {
	out := slices.Clone(ids)
	slices.Sort(out)
	return out
}

func sortedTexts(texts []string) []string {
	slices.Sort(texts)
	return texts
}
