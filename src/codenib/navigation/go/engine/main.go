// Program gofacts prints what gopls would answer about every name of a repository: the names of Go files on standard
// input, one line of JSON facts per file on standard output, progress and a last-line report on standard error.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
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
	root      string
	files     []string
	fileIndex map[string]int32
	views     []*view
	viewOf    []int
	table     *table
	clauses   sync.Map // file → target of the name in its package clause
	report    report
	byView    []*methods
	states    []*state             // of each view
	ports     map[int][]*view      // views of other ports, by the view that they vary
	portLinks map[int32][]relation // what the keys of those views also collect
	built     map[portFile]bool
	runs      [][]*fileRun
	absent    map[string]bool
	runNumber atomic.Int64

	stays    bool              // it is asked again after edits
	builds   map[string]string // of buildFiles, by path
	edited   bool
	decls    []*decls
	declLock sync.Mutex
	replaced sync.Map    // *types.Package that nobody imports any more → its unit
	lost     atomic.Bool // something that stays refers to a declaration that is gone: start from nothing

	runLock sync.Mutex
	done    int
	total   int
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
	e.gather()
	e.finish(func(_ int32, line []byte) { out.Write(line) })
	if err := out.Flush(); err != nil {
		fail(err.Error())
	}
	fmt.Fprintln(os.Stderr, "report "+e.reported())
}

// newEngine makes an engine of these files; one that stays is told of edits (edit.go).
func newEngine(root string, files []string, stays bool) *engine {
	e := &engine{root: root, fileIndex: map[string]int32{}, table: newTable(), stays: stays}
	e.files = goFiles(files)
	for i, file := range e.files {
		e.fileIndex[e.absolute(file)] = int32(i)
	}
	e.decls = make([]*decls, len(e.files))
	e.views, e.viewOf = divide(root, e.files)
	e.builds = e.buildFiles()
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

// A state is a view that was loaded: its packages, and who checks them.
type state struct {
	checker *checker
	units   []*unit
	errors  []string // of the go command
	alone   int
}

// loadAll loads and checks the packages of every view; a view that cannot be loaded is told in the report.
func (e *engine) loadAll() {
	for _, v := range e.views {
		c := e.newChecker(v)
		s := &state{checker: c}
		e.states = append(e.states, s)
		e.byView = append(e.byView, c.methods)
		if !slices.Contains(e.viewOf, v.index) {
			continue
		}
		e.report.Errors = nil
		units, err := e.load(v)
		s.errors = e.report.Errors
		if err != nil {
			s.errors = append(s.errors, strings.ReplaceAll(err.Error(), e.root, "."))
			continue
		}
		e.total += len(units)
		for _, u := range units {
			if u.standing == alone || u.standing == mute {
				s.alone++
			}
		}
		s.units = units
		c.checkAll(units)
		c.methods.hear(units)
		c.methods.relate(units)
		c.methods.stale.Store(false)
		if !e.stays {
			c.methods.forget()
		}
	}
}

// gather joins what the units of all views told.
func (e *engine) gather() {
	e.runs = make([][]*fileRun, len(e.files))
	e.absent, e.report = map[string]bool{}, report{}
	for _, s := range e.states {
		e.report.Alone += s.alone
		e.report.Errors = append(e.report.Errors, s.errors...)
		for _, u := range s.units {
			if u.told == nil {
				continue
			}
			for _, each := range u.told.runs {
				e.runs[each.file] = append(e.runs[each.file], each.run)
			}
			e.report.Imports += u.told.imports
			e.report.Missing += len(u.told.missing)
			for _, path := range u.told.missing {
				e.absent[path] = true
			}
			e.report.Failed = append(e.report.Failed, u.told.failed...)
		}
	}
	for i := range e.runs {
		e.sortRuns(e.runs[i])
		if e.viewOf[i] >= 0 {
			e.report.Files++
			if len(e.runs[i]) == 0 {
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
	e.linkPorts()
}

// finish gives the line of every file.
func (e *engine) finish(give func(file int32, line []byte)) {
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

func (e *engine) reported() string {
	text, _ := json.Marshal(e.report)
	return string(text)
}

func (e *engine) tick() {
	e.runLock.Lock()
	defer e.runLock.Unlock()
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
