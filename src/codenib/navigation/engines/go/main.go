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
	kept      *kept
	states    []*state // of each view
	related   map[int32]bool
	ports     map[int][]*view // views of other ports, by the view that they vary
	built     map[portFile]bool

	runLock sync.Mutex
	runs    [][]*fileRun
	absent  map[string]bool
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
	e := newEngine(root, files, nil)
	e.begin()
	e.loadAll()
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	e.finish(func(_ int32, line []byte) { out.Write(line) })
	if err := out.Flush(); err != nil {
		fail(err.Error())
	}
	fmt.Fprintln(os.Stderr, "report "+e.reported())
}

// newEngine makes an engine of these files; `kept` is what an earlier one left, nil when nothing stays.
func newEngine(root string, files []string, kept *kept) *engine {
	e := &engine{root: root, fileIndex: map[string]int32{}, table: newTable(), kept: kept}
	for _, file := range files {
		if strings.HasSuffix(file, ".go") {
			e.files = append(e.files, file)
		}
	}
	slices.Sort(e.files)
	e.files = slices.Compact(e.files)
	for i, file := range e.files {
		e.fileIndex[filepath.Join(root, filepath.FromSlash(file))] = int32(i)
	}
	e.views, e.viewOf = divide(root, e.files)
	return e
}

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
		if e.kept == nil {
			c.methods.hear(units)
			c.methods.relate(units)
			c.methods.forget()
		}
	}
}

// relateAll joins what the units of all views told, for an engine that stays.
func (e *engine) relateAll() {
	for _, s := range e.states {
		s.checker.methods.hear(s.units)
		if s.units != nil {
			s.checker.methods.relate(s.units)
		}
	}
}

// begin forgets what the last round gathered over all views.
func (e *engine) begin() {
	e.runs = make([][]*fileRun, len(e.files))
	e.absent, e.related = map[string]bool{}, map[int32]bool{}
	e.ports, e.built = map[int][]*view{}, map[portFile]bool{}
	e.report = report{}
}

// finish gives the line of every file, and completes the report.
func (e *engine) finish(give func(file int32, line []byte)) {
	if e.kept != nil {
		e.relateAll()
	}
	e.linkPorts()
	for _, s := range e.states {
		e.report.Alone += s.alone
		e.report.Errors = append(e.report.Errors, s.errors...)
	}
	var line bytes.Buffer
	out := bufio.NewWriterSize(&line, 1<<16)
	for i := range e.files {
		if len(e.runs[i]) == 0 {
			e.report.Silent++
		}
		line.Reset()
		e.emit(out, int32(i))
		out.Flush()
		give(int32(i), line.Bytes())
		e.runs[i] = nil
	}
	e.report.Files, e.report.Views = len(e.files), len(e.views)
	for path := range e.absent {
		e.report.Absent = append(e.report.Absent, path)
	}
	slices.Sort(e.report.Absent)
	slices.Sort(e.report.Failed)
}

func (e *engine) reported() string {
	text, _ := json.Marshal(e.report)
	return string(text)
}

func (e *engine) addRun(file int32, run *fileRun) {
	e.runLock.Lock()
	defer e.runLock.Unlock()
	e.runs[file] = append(e.runs[file], run)
}

func (e *engine) countImport(path string, found *unit) {
	e.runLock.Lock()
	defer e.runLock.Unlock()
	e.report.Imports++
	if found == nil && path != "unsafe" && path != "C" {
		e.report.Missing++
		e.absent[path] = true
	}
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
