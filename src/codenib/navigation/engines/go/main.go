// Program gofacts prints what gopls would answer about every name of a repository: the names of Go files on standard
// input, one line of JSON facts per file on standard output, progress and a last-line report on standard error.
package main

import (
	"bufio"
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
	if len(os.Args) != 2 {
		fail("usage: gofacts ROOT < files")
	}
	root, err := filepath.Abs(os.Args[1])
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		fail(err.Error())
	}
	e := &engine{root: root, fileIndex: map[string]int32{}, table: newTable(), related: map[int32]bool{},
		absent: map[string]bool{}, ports: map[int][]*view{}, built: map[portFile]bool{}}
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		if strings.HasSuffix(scanner.Text(), ".go") {
			e.files = append(e.files, scanner.Text())
		}
	}
	slices.Sort(e.files)
	e.files = slices.Compact(e.files)
	for i, file := range e.files {
		e.fileIndex[filepath.Join(root, filepath.FromSlash(file))] = int32(i)
	}
	e.runs = make([][]*fileRun, len(e.files))
	e.views, e.viewOf = divide(root, e.files)
	for _, v := range e.views {
		e.analyse(v)
	}
	e.linkPorts()
	e.finish()
}

// analyse loads, checks and relates the packages of one view; a view that cannot be loaded is told in the report.
func (e *engine) analyse(v *view) {
	c := e.newChecker(v)
	e.byView = append(e.byView, c.methods)
	if !slices.Contains(e.viewOf, v.index) {
		return
	}
	units, err := e.load(v)
	if err != nil {
		e.report.Errors = append(e.report.Errors, strings.ReplaceAll(err.Error(), e.root, "."))
		return
	}
	e.total += len(units)
	for _, u := range units {
		if u.standing == alone || u.standing == mute {
			e.report.Alone++
		}
	}
	c.checkAll(units)
	c.methods.relate(units)
	c.methods.forget()
}

func (e *engine) finish() {
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for i := range e.files {
		if len(e.runs[i]) == 0 {
			e.report.Silent++
		}
		e.emit(out, int32(i))
		e.runs[i] = nil
	}
	if err := out.Flush(); err != nil {
		fail(err.Error())
	}
	e.report.Files, e.report.Views = len(e.files), len(e.views)
	for path := range e.absent {
		e.report.Absent = append(e.report.Absent, path)
	}
	slices.Sort(e.report.Absent)
	slices.Sort(e.report.Failed)
	text, _ := json.Marshal(e.report)
	fmt.Fprintln(os.Stderr, "report "+string(text))
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
