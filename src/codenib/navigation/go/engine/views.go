package main

// The builds of a repository: files in, one view per module or workspace out, divided as gopls divides them.

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// A view, in the sense of gopls, is one build: packages are loaded, and references are searched, inside one view.
type view struct {
	index    int
	prefix   string          // of the names of keys that belong to this view alone
	dir      string          // where the go command runs
	patterns []string        // what it loads
	env      []string        // on top of the process's environment
	modules  map[string]bool // folders of the modules whose packages are searched; nil: a folder outside of any module
	platform platform
	base     int             // for a view of another platform: the view that it varies; else -1
	ownDirs  map[string]bool // for a view of another platform: the folders of its files
	unloaded bool            // the go command could not load it: see unloaded.go
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
	d.viewOfDir(root) // the root's view comes first, even without files
	for i, file := range files {
		of[i] = d.viewOfDir(filepath.Dir(filepath.Join(root, file)))
	}
	d.addHiddenFolders(files, of)
	d.addPlatforms(files, of)
	return d.views, of
}

// nearestAbove returns the nearest folder at or above dir, inside the repository, that has the named file; else "".
func (d *divider) nearestAbove(dir, name string) string {
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

func (d *divider) viewOfDir(dir string) int {
	if v, ok := d.byDir[dir]; ok {
		return v
	}
	mod := d.nearestAbove(dir, "go.mod")
	work := d.nearestAbove(dir, "go.work")
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
	v.platform, v.base = defaultPlatform, -1
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

// addHiddenFolders adds the folders that "..." skips (testdata, _x, .x): gopls loads them when one of their files is opened.
func (d *divider) addHiddenFolders(files []string, of []int) {
	added := map[string]bool{}
	for i, file := range files {
		dir := filepath.Dir(filepath.Join(d.root, file))
		v := d.views[of[i]]
		if added[dir] || v.modules == nil || !isHidden(strings.TrimPrefix(dir, d.nearestAbove(dir, "go.mod"))) {
			continue
		}
		added[dir] = true
		v.patterns = append(v.patterns, dir)
	}
}

func isHidden(dir string) bool {
	out := false
	for _, part := range strings.Split(filepath.ToSlash(dir), "/") {
		if part == "vendor" {
			return false // vendored packages are loaded as dependencies
		}
		out = out || part == "testdata" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".")
	}
	return out
}
