package main

// An engine that stays: requests on standard input, a line of JSON each, answers on standard output.
//
//	{"sync": FILES, "changed": PATHS}   the files there are now, and which of them changed, came or went
//	{"lines": FILES, "anew": BOOL}      the lines that differ from those given last (or all), and {"same": PATHS}
//
// After an answer comes {"end": COUNT}. An edit that leaves the packages' files, imports and build constraints as they are
// has only the packages checked again that hold it or depend on it; any other has the go command asked anew.

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

type request struct {
	Sync    []string `json:"sync"`
	Changed []string `json:"changed"`
	Lines   []string `json:"lines"`
	Anew    bool     `json:"anew"` // also those that are as they were
}

// kept is what stays from one engine to the next: the packages outside of the repository.
type kept struct {
	mu    sync.Mutex
	fsets map[string]*token.FileSet
	units map[string]*unit
}

// fset is the view's; positions of packages that stay have to mean the same in every round.
func (k *kept) fset(v *view) *token.FileSet {
	if k == nil {
		return token.NewFileSet()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	name := v.dir + v.prefix
	if k.fsets[name] == nil {
		k.fsets[name] = token.NewFileSet()
	}
	return k.fsets[name]
}

func (k *kept) keep(v *view, u *unit) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.units[v.dir+v.prefix+u.ID] = u
}

// reuse takes the types of a package outside of the repository over, when its files and all it imports are the same.
func (k *kept) reuse(v *view, u *unit) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.units[v.dir+v.prefix+u.ID]
	if old == nil || old == u || old.types == nil || !slices.Equal(old.files, u.files) || len(old.imports) != len(u.imports) {
		return false
	}
	for path, dep := range u.imports {
		if other := old.imports[path]; other == nil || other.types != dep.types {
			return false
		}
	}
	u.types = old.types
	return true
}

type server struct {
	root    string
	files   []string
	changed map[string]bool
	kept    *kept
	engine  *engine
	shapes  map[string]string
	sums    map[string][32]byte // of the lines given last
}

func serve(root string) {
	s := &server{root: root, changed: map[string]bool{}, sums: map[string][32]byte{},
		kept: &kept{fsets: map[string]*token.FileSet{}, units: map[string]*unit{}}}
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
				s.sums = map[string][32]byte{}
			}
			count = s.lines(out)
		}
		fmt.Fprintf(out, "{\"end\": %d}\n", count)
		out.Flush()
	}
}

// lines brings the engine up to the files and writes the lines that differ.
func (s *server) lines(out *bufio.Writer) int {
	shapes := map[string]string{}
	for _, file := range s.files {
		if old, ok := s.shapes[file]; ok && !s.changed[file] {
			shapes[file] = old
		} else {
			shapes[file] = shape(filepath.Join(s.root, filepath.FromSlash(file)))
		}
	}
	same := s.engine != nil && len(shapes) == len(s.shapes)
	for file, shape := range shapes {
		same = same && s.shapes[file] == shape
	}
	s.shapes = shapes
	if same {
		s.engine.begin()
		s.engine.again(s.changed)
	} else {
		s.engine = newEngine(s.root, s.files, s.kept)
		s.engine.begin()
		s.engine.loadAll()
	}
	s.changed = map[string]bool{}
	var equal []string
	count := 0
	sums := map[string][32]byte{}
	s.engine.finish(func(file int32, line []byte) {
		name := s.engine.files[file]
		sums[name] = sha256.Sum256(line)
		if sums[name] == s.sums[name] {
			equal = append(equal, name)
			return
		}
		count++
		out.Write(line)
	})
	s.sums = sums
	text, _ := json.Marshal(map[string]any{"same": equal, "report": s.engine.report})
	out.Write(append(text, '\n'))
	return count
}

// again checks the units that hold a changed file, and those that depend on them.
func (e *engine) again(changed map[string]bool) {
	for _, s := range e.states {
		hit := map[*unit]bool{}
		var left []*unit
		for _, u := range s.units {
			if slices.ContainsFunc(u.files, func(file string) bool { return changed[e.relative(file)] }) {
				hit[u] = true
				left = append(left, u)
			}
		}
		for len(left) > 0 {
			u := left[len(left)-1]
			left = left[:len(left)-1]
			for _, user := range u.users {
				if !hit[user] {
					hit[user] = true
					left = append(left, user)
				}
			}
		}
		var chosen []*unit
		for _, u := range s.units {
			if hit[u] {
				chosen = append(chosen, u)
			}
		}
		if len(chosen) > 0 {
			s.checker.checkSome(chosen)
		}
	}
}

// shape is what the go command reads of a file: package, imports, build constraints.
func shape(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "unreadable"
	}
	tree, _ := parser.ParseFile(token.NewFileSet(), path, data, parser.ImportsOnly|parser.ParseComments)
	if tree == nil || tree.Name == nil {
		return "unparsable"
	}
	parts := []string{tree.Name.Name}
	for _, group := range tree.Comments {
		for _, comment := range group.List {
			built := constraint.IsGoBuild(comment.Text) || constraint.IsPlusBuild(comment.Text)
			if built || importsC(tree) || strings.Contains(comment.Text, "go:embed") {
				parts = append(parts, comment.Text)
			}
		}
	}
	for _, spec := range tree.Imports {
		parts = append(parts, spec.Path.Value)
	}
	if bytes.Contains(data, []byte("//go:embed")) {
		parts = append(parts, "embeds")
	}
	return strings.Join(parts, "\n")
}

func importsC(tree *ast.File) bool {
	return slices.ContainsFunc(tree.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == `"C"` })
}
