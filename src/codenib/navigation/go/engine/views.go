package main

// Which builds the repository consists of: files in, one view per module or workspace out, as gopls divides them.

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// A view is one build: packages are loaded, and references are searched, inside one view.
type view struct {
	index    int
	prefix   string          // put before the names of keys that belong to this view alone
	dir      string          // where the go command runs
	patterns []string        // what it loads
	env      []string        // on top of the process's environment
	modules  map[string]bool // folders of the modules whose packages are searched; nil: a folder outside of any module
	port     port
	base     int             // for a view of another port: the view that it varies; else -1
	focus    map[string]bool // for a view of another port: the folders of its own files
}

type divider struct {
	root    string
	views   []*view
	byDir   map[string]int // folder → view
	modDirs map[string]string
	byRoot  map[string]int
}

// divide assigns a view to every file.
func divide(root string, files []string) ([]*view, []int) {
	d := &divider{root: root, byDir: map[string]int{}, modDirs: map[string]string{}, byRoot: map[string]int{}}
	of := make([]int, len(files))
	d.viewOf(root) // the folder's own view comes first, whether or not a file is in it
	for i, file := range files {
		of[i] = d.viewOf(filepath.Dir(filepath.Join(root, file)))
	}
	d.addHiddenFolders(files, of)
	d.addPorts(files, of)
	return d.views, of
}

// above finds the nearest folder at or above dir, inside the repository, that holds the named file.
func (d *divider) above(dir, name string) string {
	for {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return dir
		}
		if dir == d.root || len(dir) <= len(d.root) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

func (d *divider) viewOf(dir string) int {
	if v, ok := d.byDir[dir]; ok {
		return v
	}
	mod := d.above(dir, "go.mod")
	work := d.above(dir, "go.work")
	var v int
	switch {
	case work != "" && (mod == "" || workUses(work)[mod]):
		v = d.workView(work)
	case mod != "":
		v = d.moduleView(mod, work != "")
	default:
		v = d.add(dir, &view{dir: dir, patterns: []string{"./"}})
	}
	d.byDir[dir] = v
	return v
}

func (d *divider) add(root string, v *view) int {
	if i, ok := d.byRoot[root]; ok {
		return i
	}
	v.index = len(d.views)
	if v.index > 0 {
		rel, _ := filepath.Rel(d.root, root)
		v.prefix = "view " + filepath.ToSlash(rel) + ": "
	}
	v.env = append(v.env, "GO111MODULE=auto")
	v.port, v.base = defaultPort, -1
	d.views = append(d.views, v)
	d.byRoot[root] = v.index
	return v.index
}

func (d *divider) workView(work string) int {
	v := &view{dir: work, modules: map[string]bool{}}
	for dir := range workUses(work) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			v.modules[dir] = true
			v.patterns = append(v.patterns, dir+string(filepath.Separator)+"...")
		}
	}
	slices.Sort(v.patterns)
	return d.add(work, v)
}

func (d *divider) moduleView(mod string, outsideWork bool) int {
	v := &view{dir: mod, modules: map[string]bool{mod: true}, patterns: []string{mod + string(filepath.Separator) + "..."}}
	if outsideWork {
		v.env = []string{"GOWORK=off"}
	}
	return d.add(mod, v)
}

// workUses lists the module folders that a go.work names.
func workUses(work string) map[string]bool {
	uses := map[string]bool{}
	name := filepath.Join(work, "go.work")
	data, err := os.ReadFile(name)
	if err != nil {
		return uses
	}
	parsed, err := modfile.ParseWork(name, data, nil)
	if err != nil {
		return uses
	}
	for _, use := range parsed.Use {
		dir := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(work, dir)
		}
		uses[filepath.Clean(dir)] = true
	}
	return uses
}

// addHiddenFolders names the folders that "..." skips (testdata, _x, .x): live loads them when a file of them is opened.
func (d *divider) addHiddenFolders(files []string, of []int) {
	seen := map[string]bool{}
	for i, file := range files {
		dir := filepath.Dir(filepath.Join(d.root, file))
		v := d.views[of[i]]
		if seen[dir] || v.modules == nil || !hidden(strings.TrimPrefix(dir, d.above(dir, "go.mod"))) {
			continue
		}
		seen[dir] = true
		v.patterns = append(v.patterns, dir)
	}
}

func hidden(dir string) bool {
	out := false
	for _, part := range strings.Split(filepath.ToSlash(dir), "/") {
		if part == "vendor" {
			return false // vendored packages are loaded as dependencies
		}
		out = out || part == "testdata" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".")
	}
	return out
}
