package main

// An engine that stays: requests on standard input, a line of JSON each, answers on standard output.
//
//	{"sync": FILES, "changed": PATHS}   the files there are now, and which of them changed, came or went
//	{"lines": FILES, "anew": BOOL}      the lines that differ from those given last (or all), and {"same": PATHS}
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
	"sync"
	"sync/atomic"
)

type request struct {
	Sync    []string `json:"sync"`
	Changed []string `json:"changed"`
	Lines   []string `json:"lines"`
	Anew    bool     `json:"anew"` // also those that are as they were
}

type server struct {
	root    string
	files   []string
	changed map[string]bool
	engine  *engine
	shapes  map[string]shape
	given   map[string]given
}

// given is what a line that was given was made of.
type given struct {
	mark [32]byte
	sum  [32]byte
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
				s.given = nil
			}
			count = s.lines(out)
		}
		fmt.Fprintf(out, "{\"end\": %d}\n", count)
		out.Flush()
	}
}

// lines brings the engine up to the files and writes the lines that differ.
func (s *server) lines(out *bufio.Writer) int {
	moved := s.follow()
	e := s.engine
	e.gather()
	claims := e.claims()
	files := e.inOrder()
	made := make([]given, len(files))
	texts := make([][]byte, len(files))
	e.each(len(files), func(i int) {
		file := files[i]
		old, ok := s.given[e.files[file]]
		ok = ok && !e.names(file, moved)
		made[i] = given{mark: e.mark(file, claims[file])}
		if ok && old.mark == made[i].mark {
			made[i].sum = old.sum
			return
		}
		var line bytes.Buffer
		writer := bufio.NewWriterSize(&line, 1<<16)
		e.emit(writer, file, claims[file])
		writer.Flush()
		made[i].sum = sha256.Sum256(line.Bytes())
		if !ok || old.sum != made[i].sum {
			texts[i] = line.Bytes()
		}
	})
	if e.lost.Load() && e.edited { // something refers to what is gone
		s.engine = nil
		return s.lines(out)
	}
	equal, count := []string{}, 0
	s.given = map[string]given{}
	for i, file := range files {
		name := e.files[file]
		s.given[name] = made[i]
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

// follow makes the engine fit the files; it gives the declarations that are called otherwise than before.
func (s *server) follow() map[int32]bool {
	after := map[string]shape{}
	for _, file := range goFiles(s.files) {
		if old, ok := s.shapes[file]; ok && !s.changed[file] {
			after[file] = old
		} else {
			after[file] = shapeOf(s.root, file)
		}
	}
	before, changed := s.shapes, s.changed
	s.shapes, s.changed = after, map[string]bool{}
	if e := s.engine; e != nil {
		e.edited = true
		were := e.identities(changed)
		if e.follow(s.files, changed, before, after) {
			for _, state := range e.states {
				if m := state.checker.methods; m.stale.Swap(false) {
					m.hear(state.units)
					m.relate(state.units)
				}
			}
			e.replaced.Clear()
			e.gather()
			if !e.lost.Load() {
				return e.renamed(changed, were)
			}
		}
	}
	s.engine, s.given = newEngine(s.root, s.files, true), nil
	s.engine.loadAll()
	return nil
}

// identities names the declarations of files as the product does: by the names around them, kind and number.
func (e *engine) identities(files map[string]bool) map[int32]string {
	out := map[int32]string{}
	for i, file := range e.files {
		if !files[file] || e.viewOf[i] < 0 || i >= len(e.runs) || len(e.runs[i]) == 0 {
			continue
		}
		times := map[string]int{}
		var chains []string
		for _, n := range e.runs[i][0].nodes {
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

// renamed gives the declarations whose identity is another than it was.
func (e *engine) renamed(files map[string]bool, were map[int32]string) map[int32]bool {
	out := map[int32]bool{}
	now := e.identities(files)
	for id, name := range were {
		if now[id] != name {
			out[id] = true
		}
	}
	return out
}

// names reports whether a file refers to one of these declarations.
func (e *engine) names(file int32, ids map[int32]bool) bool {
	if len(ids) == 0 {
		return false
	}
	lists := map[int32]bool{}
	for _, run := range e.runs[file] {
		for _, o := range run.occs {
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
		for _, r := range run.relations {
			if ids[r.source] || ids[r.dest] {
				return true
			}
		}
	}
	return false
}

// mark sums up what a file's line is made of.
func (e *engine) mark(file int32, claimed []int32) [32]byte {
	var b []byte
	number := func(n int64) {
		for i := range 8 {
			b = append(b, byte(n>>(8*i)))
		}
	}
	path := e.absolute(e.files[file])
	for _, run := range e.runs[file] {
		number(run.number)
		facts := e.byView[run.view]
		for _, k := range run.keys {
			if local, ok := facts.locals[k]; ok && local.pkg == run.pkg {
				number(int64(k))
				number(int64(local.key))
			}
			e.portKeys(func(own int32) { number(int64(k)); number(int64(own)) }, run, path, k)
		}
		for _, k := range run.used {
			more := facts.extra[usePlace{k, run.pkg}]
			if len(more) > 0 {
				number(int64(k))
				number(-int64(len(more)))
				sorted := sortedIDs(more)
				for _, id := range sorted {
					number(int64(id))
				}
			}
		}
	}
	for _, k := range claimed {
		var dests []string
		for _, facts := range e.byView {
			for _, r := range facts.relations[k] {
				dests = append(dests, fmt.Sprint(r))
			}
		}
		for _, r := range e.portLinks[k] {
			dests = append(dests, fmt.Sprint(r))
		}
		number(int64(k))
		for _, text := range sortedTexts(dests) {
			b = append(b, text...)
		}
	}
	return sha256.Sum256(b)
}

// each does a job for every number below n on all processors.
func (e *engine) each(n int, job func(i int)) {
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
