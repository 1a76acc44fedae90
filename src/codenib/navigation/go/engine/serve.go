package main

// The resident engine: requests on standard input, one line of JSON each, answers on standard output.
//
//	{"sync": FILES, "changed": PATHS}   the current files, and which of them changed, were added or removed
//	{"lines": FILES, "anew": BOOL}      the lines that differ from those sent last (or all), and {"same": PATHS}
//
// After an answer comes {"end": COUNT}.

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
)

type request struct {
	Sync    []string `json:"sync"`
	Changed []string `json:"changed"`
	Lines   []string `json:"lines"`
	Anew    bool     `json:"anew"` // send unchanged lines too
}

type server struct {
	root    string
	files   []string
	changed map[string]bool
	engine  *engine
	headers map[string]header
	sent    map[string]lineDigest
}

// A lineDigest tells whether a line that was sent is still valid: digests of its inputs and of its text.
type lineDigest struct {
	inputs [32]byte
	text   [32]byte
}

func serve(root string) {
	s := &server{root: root, changed: map[string]bool{}}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var r request
		if err != nil || json.Unmarshal(text, &r) != nil {
			fail("a request cannot be read")
		}
		count := 0
		if r.Sync != nil {
			s.files = r.Sync
			for _, file := range r.Changed {
				s.changed[file] = true
			}
		} else {
			if r.Anew {
				s.sent = nil
			}
			count = s.lines(out)
			letHeapGrow()
		}
		fmt.Fprintf(out, "{\"end\": %d}\n", count)
		out.Flush()
	}
}

// What the heap may grow by before it is collected, at least: one collection of a small repository's engine costs more than
// most edits of it do.
const leastGrowth = 128 << 20

// letHeapGrow sets how often garbage is collected, by the size of what is live; a larger heap than `leastGrowth` is collected
// when it has doubled, as usual.
func letHeapGrow() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if live[0].Value.Kind() == metrics.KindUint64 {
		debug.SetGCPercent(int(max(100, 100*leastGrowth/max(1<<20, live[0].Value.Uint64()))))
	}
}

// lines updates the engine and writes the lines that differ from those sent last.
func (s *server) lines(out *bufio.Writer) int {
	renamed := s.update()
	e := s.engine
	e.gatherFacts()
	claims := e.claims()
	files := e.filesByPath()
	digests := make([]lineDigest, len(files))
	texts := make([][]byte, len(files))
	e.parallel(len(files), func(i int) {
		file := files[i]
		old, ok := s.sent[e.files[file]]
		ok = ok && !e.refersToAny(file, renamed)
		digests[i] = lineDigest{inputs: e.inputDigest(file, claims[file])}
		if ok && old.inputs == digests[i].inputs {
			digests[i].text = old.text
			return
		}
		var line bytes.Buffer
		writer := bufio.NewWriterSize(&line, 1<<16)
		e.emit(writer, file, claims[file])
		writer.Flush()
		digests[i].text = sha256.Sum256(line.Bytes())
		if !ok || old.text != digests[i].text {
			texts[i] = line.Bytes()
		}
	})
	if e.mustRestart.Load() && e.edited { // something refers to a removed declaration
		s.engine = nil
		return s.lines(out)
	}
	equal, count := []string{}, 0
	s.sent = map[string]lineDigest{}
	for i, file := range files {
		name := e.files[file]
		s.sent[name] = digests[i]
		if texts[i] == nil {
			equal = append(equal, name)
			continue
		}
		count++
		out.Write(texts[i])
	}
	text, _ := json.Marshal(map[string]any{"same": equal, "report": e.report})
	out.Write(append(text, '\n'))
	return count
}

// update applies the edits to the engine and returns the declarations whose identity changed.
func (s *server) update() map[int32]bool {
	after := map[string]header{}
	for _, file := range goFiles(s.files) {
		if old, ok := s.headers[file]; ok && !s.changed[file] {
			after[file] = old
		} else {
			after[file] = headerOf(s.root, file)
		}
	}
	before, changed := s.headers, s.changed
	s.headers, s.changed = after, map[string]bool{}
	if e := s.engine; e != nil {
		e.edited = true
		identities := e.identitiesOf(changed)
		if e.applyEdit(s.files, changed, before, after) {
			for _, state := range e.loaded {
				if m := state.checker.methods; m.stale.Swap(false) {
					m.collect(state.units)
					m.relate(state.units)
				}
			}
			e.replaced.Clear()
			e.gatherFacts()
			if !e.mustRestart.Load() {
				return e.changedIdentities(changed, identities)
			}
		}
	}
	s.engine, s.sent = newEngine(s.root, s.files, true), nil
	s.engine.loadAll()
	return nil
}

// identitiesOf names declarations as the graph view does: by enclosing names, kind and ordinal.
func (e *engine) identitiesOf(files map[string]bool) map[int32]string {
	out := map[int32]string{}
	for i, file := range e.files {
		if !files[file] || e.viewOf[i] < 0 || i >= len(e.fileFacts) || len(e.fileFacts[i]) == 0 {
			continue
		}
		times := map[string]int{}
		var chains []string
		for _, n := range e.fileFacts[i][0].nodes {
			chain := n.name
			if n.parent >= 0 {
				chain = chains[n.parent] + "." + chain
			}
			chains = append(chains, chain)
			name := chain + ":" + n.kind
			times[name]++
			if id, ok := e.table.byTarget[target{file: int32(i), line: n.selLine, col: n.selCol}]; ok {
				out[id] = fmt.Sprintf("%s:%d", name, times[name])
			}
		}
	}
	return out
}

// changedIdentities returns the declarations whose identity differs from `before`.
func (e *engine) changedIdentities(files map[string]bool, before map[int32]string) map[int32]bool {
	out := map[int32]bool{}
	now := e.identitiesOf(files)
	for id, name := range before {
		if now[id] != name {
			out[id] = true
		}
	}
	return out
}

// refersToAny reports whether a file refers to one of these declarations.
func (e *engine) refersToAny(file int32, ids map[int32]bool) bool {
	if len(ids) == 0 {
		return false
	}
	lists := map[int32]bool{}
	for _, facts := range e.fileFacts[file] {
		for _, o := range facts.occurrences {
			for _, list := range []int32{o.defs, o.keys, o.asks} {
				if list < 0 || lists[list] {
					continue
				}
				lists[list] = true
				for _, id := range e.table.items(list) {
					if ids[id] {
						return true
					}
				}
			}
		}
		for _, r := range facts.relations {
			if ids[r.source] || ids[r.dest] {
				return true
			}
		}
	}
	return false
}

// inputDigest is a digest of everything that decides a file's line.
func (e *engine) inputDigest(file int32, claimed []int32) [32]byte {
	var b []byte
	number := func(n int64) {
		for i := range 8 {
			b = append(b, byte(n>>(8*i)))
		}
	}
	path := e.absolute(e.files[file])
	for _, facts := range e.fileFacts[file] {
		number(facts.number)
		methods := e.methods[facts.view]
		for _, k := range facts.keys {
			if local, ok := methods.locals[k]; ok && local.pkg == facts.pkg {
				number(int64(k))
				number(int64(local.key))
			}
			e.platformKeys(func(own int32) { number(int64(k)); number(int64(own)) }, facts, path, k)
		}
		for _, k := range facts.usedMethods {
			e.platformUses(func(own int32) { number(int64(k)); number(int64(own)) }, facts, path, k)
			more := methods.extraKeys[methodUse{k, facts.pkg}]
			if len(more) > 0 {
				number(int64(k))
				number(-int64(len(more)))
				for _, id := range slices.Sorted(slices.Values(more)) {
					number(int64(id))
				}
			}
		}
	}
	for _, k := range claimed {
		var dests []string
		for _, methods := range e.methods {
			for _, r := range methods.relations[k] {
				dests = append(dests, fmt.Sprint(r))
			}
		}
		for _, r := range e.platformRelations[k] {
			dests = append(dests, fmt.Sprint(r))
		}
		number(int64(k))
		slices.Sort(dests)
		for _, text := range dests {
			b = append(b, text...)
		}
	}
	return sha256.Sum256(b)
}

// parallel runs a job for every number below n on all processors.
func (e *engine) parallel(n int, job func(i int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				job(i)
			}
		})
	}
	group.Wait()
}
