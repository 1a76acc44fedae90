// Program gofacts prints what gopls would answer about every name of a repository: the names of Go files on standard
// input, one line of JSON facts per file on standard output, progress and a last-line report on standard error.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A report is what the caller needs to judge how complete the facts are.
type report struct {
	Files   int      `json:"files"`
	Silent  int      `json:"silent"` // files without facts
	Alone   int      `json:"alone"`  // files that no build includes
	Imports int      `json:"imports"`
	Missing int      `json:"missing"`
	Absent  []string `json:"absent"` // imported packages that were not found
	Errors  []string `json:"errors"`
	Failed  []string `json:"failed"`
	Views   int      `json:"views"`
}

type engine struct {
	root              string
	files             []string
	fileIndex         map[string]int32
	views             []*view
	viewOf            []int
	table             *table
	clauses           sync.Map // file → target of the name in its package clause
	report            report
	methods           []*methods
	loaded            []*loadedView        // by view
	platformViews     map[int][]*view      // views of other platforms, by their base view
	platformRelations map[int32][]relation // relations of the keys of those views
	builtFor          map[platformFile]bool
	fileFacts         [][]*fileFacts
	absent            map[string]bool
	factsNumber       atomic.Int64

	resident       bool              // it stays and is asked again after edits
	buildFileTexts map[string]string // contents of go.mod and the like, by path
	edited         bool
	decls          []*decls
	declLock       sync.Mutex
	replaced       sync.Map    // *types.Package that is imported no more → its unit
	mustRestart    atomic.Bool // something refers to a removed declaration: load anew

	fset       *token.FileSet
	sourceLock sync.Mutex
	sources    map[string]*source
	skeletons  map[string]*ast.File // declarations of files, without bodies
	words      map[string][]uint32  // of files, see words.go
	versions   sync.Map             // *token.File → *decls, of the repository's files

	lock  sync.Mutex
	done  int
	total int
}

func main() {
	if len(os.Args) < 2 {
		fail("usage: gofacts ROOT [serve] < files")
	}
	root, err := filepath.Abs(os.Args[1])
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		fail(err.Error())
	}
	if len(os.Args) > 2 && os.Args[2] == "serve" {
		serve(root)
		return
	}
	var files []string
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		files = append(files, scanner.Text())
	}
	e := newEngine(root, files, false)
	e.loadAll()
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	e.gatherFacts()
	e.emitAll(func(_ int32, line []byte) { out.Write(line) })
	if err := out.Flush(); err != nil {
		fail(err.Error())
	}
	fmt.Fprintln(os.Stderr, "report "+e.reportText())
}

// newEngine returns an engine for these files; a resident one can be updated after edits (edit.go).
func newEngine(root string, files []string, stays bool) *engine {
	e := &engine{root: root, fileIndex: map[string]int32{}, table: newTable(), resident: stays, fset: token.NewFileSet(),
		sources: map[string]*source{}, skeletons: map[string]*ast.File{}, words: map[string][]uint32{}}
	e.files = goFiles(files)
	for i, file := range e.files {
		e.fileIndex[e.absolute(file)] = int32(i)
	}
	e.decls = make([]*decls, len(e.files))
	e.views, e.viewOf = divide(root, e.files)
	e.buildFileTexts = e.buildFiles()
	return e
}

func goFiles(files []string) []string {
	var out []string
	for _, file := range files {
		if strings.HasSuffix(file, ".go") {
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (e *engine) absolute(file string) string { return filepath.Join(e.root, filepath.FromSlash(file)) }

// A loadedView is a view with its packages and their type checker.
type loadedView struct {
	checker *checker
	units   []*unit
	errors  []string // of the go command
	unbuilt int
}

// loadAll loads and checks the packages of every view; the report lists views that cannot be loaded.
func (e *engine) loadAll() {
	for _, v := range e.views {
		c := e.newChecker(v)
		s := &loadedView{checker: c}
		e.loaded = append(e.loaded, s)
		e.methods = append(e.methods, c.methods)
		if !slices.Contains(e.viewOf, v.index) {
			continue
		}
		e.report.Errors = nil
		units := e.load(v)
		s.errors = e.report.Errors
		e.total += len(units)
		for _, u := range units {
			if u.membership == unbuilt {
				s.unbuilt++
			}
		}
		s.units = units
		c.checkAll(units)
		c.methods.collect(units)
		c.methods.relate(units)
		c.methods.stale.Store(false)
		if !e.resident {
			c.methods.release()
		}
	}
}

// gatherFacts merges the facts of the units of all views.
func (e *engine) gatherFacts() {
	e.fileFacts = make([][]*fileFacts, len(e.files))
	e.absent, e.report = map[string]bool{}, report{}
	for _, s := range e.loaded {
		e.report.Alone += s.unbuilt
		e.report.Errors = append(e.report.Errors, s.errors...)
		for _, u := range s.units {
			if u.facts == nil {
				continue
			}
			for _, each := range u.facts.files {
				if each.facts != nil {
					e.fileFacts[each.file] = append(e.fileFacts[each.file], each.facts)
				}
			}
			e.report.Failed = append(e.report.Failed, u.facts.failed...)
			if v := s.checker.view; v.unloaded || v.platform.tags != "" {
				continue // what it imports from outside cannot be had, or only by those who set its tags
			}
			for _, each := range u.facts.files {
				e.report.Imports += each.imports
				e.report.Missing += len(each.missing)
				for _, path := range each.missing {
					e.absent[path] = true
				}
			}
		}
	}
	for i := range e.fileFacts {
		e.sortFacts(e.fileFacts[i])
		if e.viewOf[i] >= 0 {
			e.report.Files++
			if len(e.fileFacts[i]) == 0 {
				e.report.Silent++
			}
		}
	}
	e.report.Views = len(e.views)
	for path := range e.absent {
		e.report.Absent = append(e.report.Absent, path)
	}
	slices.Sort(e.report.Absent)
	slices.Sort(e.report.Failed)
	e.linkPlatforms()
}

// emitAll calls `give` with the line of every file.
func (e *engine) emitAll(give func(file int32, line []byte)) {
	var line bytes.Buffer
	out := bufio.NewWriterSize(&line, 1<<16)
	claims := e.claims()
	for i := range e.files {
		line.Reset()
		e.emit(out, int32(i), claims[i])
		out.Flush()
		give(int32(i), line.Bytes())
	}
}

func (e *engine) reportText() string {
	text, _ := json.Marshal(e.report)
	return string(text)
}

func (e *engine) countProgress() {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.done++; e.done%50 == 0 {
		fmt.Fprintf(os.Stderr, "progress %d %d\n", e.done, e.total)
	}
}

func (e *engine) relative(path string) string {
	rel, err := filepath.Rel(e.root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "error "+message)
	os.Exit(1)
}
