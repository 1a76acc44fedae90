package main

// The facts of a file from each package variant in, one merged line of JSON out. Equal input gives equal bytes.

import (
	"bufio"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
)

// mergeOccurrences merges the facts of several package variants: the smallest variant answers, all of them add keys.
func (e *engine) mergeOccurrences(path string, all []*fileFacts) []occurrence {
	var out []occurrence
	var keys [][]int32
	at := map[[2]int32]int{}
	for _, facts := range all {
		for _, o := range facts.occurrences {
			place := [2]int32{o.line, o.col}
			index, ok := at[place]
			if !ok {
				if !facts.answers {
					o.defs, o.asks = noList, noList
				}
				if o.asks == noList {
					o.asks = o.keys // keys grow below, asks do not
				}
				index = len(out)
				at[place] = index
				out, keys = append(out, o), append(keys, nil)
			}
			keys[index] = e.collectKeys(keys[index], facts, path, o)
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
	slices.SortFunc(out, func(a, b occurrence) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col)) })
	return out
}

// collectKeys adds all keys under which the occurrence is listed as a reference.
func (e *engine) collectKeys(into []int32, facts *fileFacts, path string, o occurrence) []int32 {
	add := func(key int32) {
		if !slices.Contains(into, key) {
			into = append(into, key)
		}
	}
	methods := e.methods[facts.view]
	for _, k := range e.table.items(o.keys) {
		add(k)
		if local, ok := methods.locals[k]; ok && local.pkg == facts.pkg {
			add(local.key)
		}
		e.platformKeys(add, facts, path, k)
	}
	if o.method >= 0 {
		for _, k := range methods.extraKeys[methodUse{o.method, facts.pkg}] {
			add(k)
		}
		e.platformUses(add, facts, path, o.method)
	}
	return into
}

// sortFacts puts the facts of the variant that answers first.
func (e *engine) sortFacts(all []*fileFacts) {
	slices.SortStableFunc(all, func(a, b *fileFacts) int {
		if a.answers != b.answers {
			return map[bool]int{true: -1, false: 1}[a.answers]
		}
		x, y := e.methods[a.view].pathNames[a.pkg], e.methods[b.view].pathNames[b.pkg]
		return cmp.Or(cmp.Compare(a.view, b.view), cmp.Compare(a.packageSize, b.packageSize), cmp.Compare(x, y))
	})
}

func (e *engine) emit(out *bufio.Writer, file int32, claimed []int32) {
	all := e.fileFacts[file]
	l := &lineWriter{engine: e, index: map[int32]int{}, scope: scopeUnresolved}
	occs := e.mergeOccurrences(e.absolute(e.files[file]), all)
	relations := e.relationsOf(all, claimed)
	for _, o := range occs {
		for _, list := range []int32{o.defs, o.keys, o.asks} {
			l.addTargets(e.table.items(list)...)
		}
	}
	for _, r := range relations {
		l.addTargets(r.source, r.dest)
	}
	l.assignIndexes()
	var nodes []node
	if len(all) > 0 {
		nodes = all[0].nodes
		if all[0].answers {
			l.scope = all[0].scope
		}
	}
	l.write(out, e.files[file], nodes, occs, relations)
}

// claims returns, for every file, the keys whose relations it writes: those of its own declarations, and those of outside
// declarations that no earlier file asks for.
func (e *engine) claims() [][]int32 {
	out := make([][]int32, len(e.files))
	taken := map[int32]bool{}
	for _, file := range e.filesByPath() {
		claim := func(k int32) {
			t := e.table.targets[k]
			if t.file >= 0 && t.file != file || taken[k] || !e.isRelated(k) {
				return
			}
			taken[k] = true
			out[file] = append(out[file], k)
		}
		for _, facts := range e.fileFacts[file] {
			for _, k := range facts.keys {
				claim(k)
				if local, ok := e.methods[facts.view].locals[k]; ok && local.pkg == facts.pkg {
					claim(local.key)
				}
				e.platformKeys(claim, facts, e.absolute(e.files[file]), k)
			}
			for _, k := range facts.asks {
				if facts.answers {
					claim(k)
				}
			}
		}
	}
	return out
}

func (e *engine) isRelated(key int32) bool {
	for _, methods := range e.methods {
		if len(methods.relations[key]) > 0 {
			return true
		}
	}
	return len(e.platformRelations[key]) > 0
}

// filesByPath lists the current files, sorted by path.
func (e *engine) filesByPath() []int32 {
	var out []int32
	for i, view := range e.viewOf {
		if view >= 0 {
			out = append(out, int32(i))
		}
	}
	slices.SortFunc(out, func(a, b int32) int { return cmp.Compare(e.files[a], e.files[b]) })
	return out
}

// relationsOf collects the relations that a file writes, each once.
func (e *engine) relationsOf(all []*fileFacts, claimed []int32) []relation {
	added := map[relation]bool{}
	var out []relation
	add := func(all []relation) {
		for _, r := range all {
			if !added[r] {
				added[r] = true
				out = append(out, r)
			}
		}
	}
	for _, facts := range all {
		add(facts.relations)
	}
	for _, k := range claimed {
		for _, methods := range e.methods {
			add(methods.relations[k])
		}
		add(e.platformRelations[k])
	}
	return out
}

type lineWriter struct {
	*engine
	ids       []int32
	index     map[int32]int
	scope     string
	lists     map[int32]int32
	listItems [][]int
}

func (l *lineWriter) addTargets(ids ...int32) {
	for _, id := range ids {
		if l.table.removed[id] {
			l.mustRestart.Store(true)
		}
		if _, ok := l.index[id]; !ok {
			l.index[id] = 0
			l.ids = append(l.ids, id)
		}
	}
}

func (l *lineWriter) assignIndexes() {
	slices.SortFunc(l.ids, func(a, b int32) int {
		x, y := l.table.targets[a], l.table.targets[b]
		place := cmp.Or(cmp.Compare(x.file, y.file), cmp.Compare(x.line, y.line), cmp.Compare(x.col, y.col))
		return cmp.Or(place, cmp.Compare(x.name, y.name))
	})
	for i, id := range l.ids {
		l.index[id] = i
	}
}

// list returns the number of a list in this line, in order of first use.
func (l *lineWriter) list(id int32) int32 {
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
	l.lists[id] = int32(len(l.listItems))
	l.listItems = append(l.listItems, items)
	return l.lists[id]
}

func (l *lineWriter) write(out *bufio.Writer, path string, nodes []node, occs []occurrence, relations []relation) {
	l.lists = map[int32]int32{}
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
		for j, x := range []int32{o.line, o.col, o.line, o.end, o.roles, l.list(o.defs), l.list(o.keys), l.list(o.asks)} {
			b = strconv.AppendInt(comma(b, j), int64(x), 10)
		}
	}
	b = append(b, `],"lists":[`...)
	for i, items := range l.listItems {
		b = append(comma(b, i), '[')
		for j, x := range items {
			b = strconv.AppendInt(comma(b, j), int64(x), 10)
		}
		b = append(b, ']')
	}
	b = append(b, `],"relations":[`...)
	b = l.appendRelations(b, relations)
	b = append(b, `],"scope":`...)
	out.Write(append(append(b, quote(l.scope)...), "}\n"...))
}

func (l *lineWriter) appendTarget(b []byte, t target) []byte {
	if t.file < 0 {
		return append(b, quote(t.name)...)
	}
	b = append(append(b, '['), quote(l.files[t.file])...)
	b = strconv.AppendInt(append(b, ','), int64(t.line), 10)
	b = strconv.AppendInt(append(b, ','), int64(t.col), 10)
	return append(b, ']')
}

func (l *lineWriter) appendRelations(b []byte, relations []relation) []byte {
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
