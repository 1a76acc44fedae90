package main

// An edit: the files that changed, came or went in, an engine out whose units say again what holds.

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// follow brings the engine from one state of the files to the next; false when it has to start from nothing.
func (e *engine) follow(files []string, changed map[string]bool, before, after map[string]shape) bool {
	builds := e.buildFiles()
	rebuilt := !maps.Equal(builds, e.builds)
	e.builds = builds
	other := rebuilt
	for file := range changed {
		old, was := before[file]
		now, is := after[file]
		other = other || was != is || !old.equal(now)
	}
	if other && !e.divideAgain(goFiles(files)) {
		return false
	}
	for file := range changed {
		e.moveDecls(file)
	}
	for _, s := range e.states {
		if other && (rebuilt || !e.adjust(s, before, after)) && !e.reload(s) {
			return false
		}
		for _, u := range s.units {
			u.dirty = u.dirty || slices.ContainsFunc(u.files, func(file string) bool { return changed[e.relative(file)] })
		}
		s.checkDirty()
	}
	return !e.lost.Load()
}

// buildFiles are the files that say which modules there are, with their contents.
func (e *engine) buildFiles() map[string]string {
	out := map[string]string{}
	for _, v := range e.views {
		folders := append(slices.Collect(maps.Keys(v.modules)), v.dir)
		for _, folder := range folders {
			for _, name := range []string{"go.mod", "go.sum", "go.work", "go.work.sum", "vendor/modules.txt"} {
				path := filepath.Join(folder, name)
				if data, err := os.ReadFile(path); err == nil {
					out[path] = string(data)
				}
			}
		}
	}
	return out
}

// divideAgain numbers new files and lets go of those that went; false when the views are not those that there were.
func (e *engine) divideAgain(files []string) bool {
	views, of := divide(e.root, files)
	if !slices.EqualFunc(e.views, views, (*view).same) {
		return false
	}
	viewOf := make([]int, len(e.files), len(e.files)+8)
	for i := range viewOf {
		viewOf[i] = -1
	}
	numbers := map[string]int32{}
	for i, file := range e.files {
		numbers[file] = int32(i)
	}
	e.fileIndex = map[string]int32{}
	for i, file := range files {
		n, ok := numbers[file]
		if !ok {
			n = int32(len(e.files))
			e.files, e.decls, viewOf = append(e.files, file), append(e.decls, nil), append(viewOf, -1)
		} else if e.viewOf[n] >= 0 && e.viewOf[n] != of[i] {
			return false
		}
		viewOf[n] = of[i]
		e.fileIndex[e.absolute(file)] = n
	}
	e.viewOf, e.built = viewOf, nil
	for i, v := range views {
		e.views[i].patterns, e.views[i].focus = v.patterns, v.focus
	}
	return true
}

func (v *view) same(other *view) bool {
	return v.dir == other.dir && v.prefix == other.prefix && v.base == other.base && v.port == other.port &&
		slices.Equal(v.env, other.env) && maps.Equal(v.modules, other.modules)
}

// moveDecls lets the numbers of an edited file's declarations follow them.
func (e *engine) moveDecls(file string) {
	n := int32(slices.Index(e.files, file))
	if n < 0 || e.decls[n] == nil {
		return
	}
	now := &decls{}
	name := e.absolute(file)
	if _, there := e.fileIndex[name]; there {
		fset := token.NewFileSet()
		tree, _ := parser.ParseFile(fset, name, nil, parser.AllErrors|parser.SkipObjectResolution)
		if tree != nil && tree.Name != nil {
			now = newDecls(fset.File(tree.FileStart), tree)
		}
	}
	e.table.move(n, e.decls[n], now)
	e.decls[n] = now
	if len(now.places) == 0 {
		e.decls[n] = nil
		e.clauses.Delete(name)
	}
}

// checkDirty checks the units that are dirty and those that depend on them.
func (s *state) checkDirty() {
	hit := map[*unit]bool{}
	var left []*unit
	for _, u := range s.units {
		if u.dirty {
			hit[u] = true
			left = append(left, u)
		}
	}
	if len(left) == 0 {
		return
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
	s.checker.checkSome(chosen)
}

// reload asks the go command for a view's packages again; units that are as they were stay.
func (e *engine) reload(s *state) bool {
	v := s.checker.view
	if !slices.Contains(e.viewOf, v.index) {
		s.units, s.errors, s.alone = nil, nil, 0
		s.checker.methods.stale.Store(true)
		return true
	}
	e.report.Errors = nil
	units, err := e.load(v)
	if err != nil {
		return false
	}
	s.errors, s.alone = e.report.Errors, 0
	known := map[string]*unit{}
	for _, u := range s.units {
		known[u.ID] = u
	}
	stays := map[*unit]*unit{}
	for i, u := range units {
		for path, imported := range u.imports {
			u.imports[path] = stays[imported]
		}
		old := known[u.ID]
		switch {
		case old == nil:
			u.dirty = true
			old = u
		case old.standing != u.standing || old.Name != u.Name || goVersion(old) != goVersion(u):
			u.dirty = true
			old = u
		default:
			same := slices.Equal(old.files, u.files) && maps.Equal(old.imports, u.imports) && slices.Equal(old.OtherFiles, u.OtherFiles)
			old.Package, old.files, old.imports = u.Package, u.files, u.imports
			old.dirty = old.dirty || !same
		}
		stays[u] = old
		units[i] = old
		if old.standing == alone || old.standing == mute {
			s.alone++
		}
	}
	s.units = units
	s.checker.connect(units)
	s.checker.methods.stale.Store(true)
	return true
}

// adjust gives the units of a view the files and imports that they have after an edit, without asking the go command;
// false when only that knows.
func (e *engine) adjust(s *state, before, after map[string]shape) bool {
	if s.units == nil {
		return !slices.Contains(e.viewOf, s.checker.view.index)
	}
	a := &adjuster{engine: e, state: s, after: after, byID: map[string]*unit{}, byPath: map[string]*unit{}}
	for _, u := range s.units {
		a.byID[u.ID] = u
		if u.ForTest == "" {
			a.byPath[u.PkgPath] = u
		}
	}
	touched := map[string]bool{} // folders
	for file, now := range after {
		if old, was := before[file]; !was || !old.equal(now) {
			if was && old.head != now.head || !was && !a.joins(file, now) {
				return false
			}
			touched[path.Dir(file)] = true
		}
	}
	for file, old := range before {
		if _, is := after[file]; !is {
			if old.special() {
				return false
			}
			touched[path.Dir(file)] = true
		}
	}
	type change struct {
		u       *unit
		files   []string
		imports map[string]*unit
	}
	var changes []change
	for _, u := range s.units {
		if len(u.files) == 0 || !a.inFolders(u, touched) {
			continue
		}
		if strings.HasPrefix(u.ID, "command-line-arguments") {
			return false
		}
		files, ok := a.filesOf(u)
		if !ok || len(files) == 0 {
			return false
		}
		imports, ok := a.importsOf(u, files, before)
		if !ok {
			return false
		}
		changes = append(changes, change{u, files, imports})
	}
	for file := range a.added {
		if !a.placed[file] {
			return false
		}
	}
	moved := false
	for _, c := range changes {
		moved = moved || !maps.Equal(c.u.imports, c.imports)
		c.u.dirty = c.u.dirty || !slices.Equal(c.u.files, c.files) || !maps.Equal(c.u.imports, c.imports)
		c.u.files, c.u.imports = c.files, c.imports
	}
	if moved {
		s.units = inOrder(s.units)
		s.checker.connect(s.units)
		s.checker.methods.stale.Store(true)
	}
	return true
}

// inOrder puts dependencies first.
func inOrder(units []*unit) []*unit {
	var out []*unit
	done := map[*unit]bool{}
	var add func(u *unit)
	add = func(u *unit) {
		if done[u] {
			return
		}
		done[u] = true
		for _, path := range slices.Sorted(maps.Keys(u.imports)) {
			add(u.imports[path])
		}
		out = append(out, u)
	}
	for _, u := range units {
		add(u)
	}
	return out
}

type adjuster struct {
	*engine
	*state
	after  map[string]shape
	byID   map[string]*unit
	byPath map[string]*unit
	added  map[string]shape // files that came
	placed map[string]bool  // those that a unit took
}

// joins reports whether a new file is an ordinary one of the default build, so that a package of its folder takes it.
func (a *adjuster) joins(file string, now shape) bool {
	n, ok := a.fileIndex[a.absolute(file)]
	if !ok || now.special() || !defaultPort.matches(a.absolute(file)) {
		return false
	}
	if a.viewOf[n] == a.checker.view.index {
		if a.added == nil {
			a.added, a.placed = map[string]shape{}, map[string]bool{}
		}
		a.added[a.absolute(file)] = now
	}
	return true
}

func (a *adjuster) inFolders(u *unit, folders map[string]bool) bool {
	return slices.ContainsFunc(u.files, func(file string) bool { return folders[path.Dir(a.relative(file))] })
}

// filesOf is what the compiler sees of a unit now.
func (a *adjuster) filesOf(u *unit) ([]string, bool) {
	var plain, tests []string
	take := func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			tests = append(tests, file)
		} else {
			plain = append(plain, file)
		}
	}
	dir := ""
	for _, file := range u.files {
		if _, there := a.fileIndex[file]; there {
			take(file)
		} else if _, err := os.Stat(file); err == nil {
			return nil, false // made by the go command, or not of the repository
		}
		dir = path.Dir(file)
	}
	for file, now := range a.added {
		if path.Dir(file) != dir || now.name != u.Name {
			continue
		}
		test := strings.HasSuffix(file, "_test.go")
		outer := strings.HasSuffix(u.Name, "_test") && u.ForTest != ""
		switch {
		case !test && outer, test && u.ForTest == "", test && !outer && u.ForTest != u.PkgPath:
			continue
		}
		a.placed[file] = true
		take(file)
	}
	slices.Sort(plain)
	slices.Sort(tests)
	return append(plain, tests...), true
}

// importsOf resolves what the files of a unit import now.
func (a *adjuster) importsOf(u *unit, files []string, before map[string]shape) (map[string]*unit, bool) {
	old, now := map[string]bool{}, map[string]bool{}
	for _, file := range u.files {
		for _, path := range before[a.relative(file)].imports {
			old[path] = true
		}
	}
	for _, file := range files {
		for _, path := range a.after[a.relative(file)].imports {
			now[path] = true
		}
	}
	out := maps.Clone(u.imports)
	for path := range old {
		if imported := u.imports[path]; imported != nil && !now[path] {
			if len(a.ours(imported)) > 0 && !a.mayDrop(u, imported) {
				return nil, false
			}
			delete(out, path)
		}
	}
	for path := range now {
		if old[path] || path == "unsafe" {
			continue
		}
		imported, ok := a.resolve(u, path)
		if !ok {
			return nil, false
		}
		out[path] = imported
	}
	return out, true
}

// resolve finds the package that a new import leads to, where it is loaded and brings no further variants about.
func (a *adjuster) resolve(u *unit, path string) (*unit, bool) {
	plain := a.byPath[path]
	if path == "C" || plain == nil || plain.Name == "main" || strings.Contains("/"+path+"/", "/internal/") && !shares(u.PkgPath, path) {
		return nil, false
	}
	ours := a.ours(plain)
	if len(ours) == 0 {
		return plain, true
	}
	if u.ForTest != "" {
		if variant := a.byID[path+" ["+u.ForTest+".test]"]; variant != nil {
			return variant, true
		}
		tested := a.byID[u.ForTest+" ["+u.ForTest+".test]"]
		return plain, tested == nil || !ours[u.ForTest]
	}
	if ours[u.PkgPath] {
		return nil, false
	}
	known := a.ours(u)
	for other := range ours {
		if known[other] || a.byID[other+" ["+other+".test]"] == nil {
			continue
		}
		// Tests of `other` that use this package have a variant of it from now on.
		if outer := a.byID[other+"_test ["+other+".test]"]; outer != nil && a.ours(outer)[u.PkgPath] {
			return nil, false
		}
	}
	return plain, true
}

// mayDrop reports whether letting go of an import leaves the variants of packages as they are.
func (a *adjuster) mayDrop(u, imported *unit) bool {
	for other := range a.ours(imported) {
		if a.byID[u.PkgPath+" ["+other+".test]"] != nil && other != u.PkgPath {
			return false
		}
	}
	return true
}

// ours lists the packages of the repository that a unit depends on, itself among them.
func (a *adjuster) ours(u *unit) map[string]bool {
	out, seen := map[string]bool{}, map[*unit]bool{}
	var visit func(u *unit)
	visit = func(u *unit) {
		if seen[u] {
			return
		}
		seen[u] = true
		if u.standing != outside || u.intermediate() {
			out[u.PkgPath] = true
		}
		for _, imported := range u.imports {
			visit(imported)
		}
	}
	visit(u)
	return out
}

// shares reports whether a package may import another that lies in an internal folder.
func shares(from, path string) bool {
	i := strings.LastIndex("/"+path+"/", "/internal/")
	parent := strings.TrimSuffix(("/" + path)[1:max(i, 1)], "/")
	return i > 0 && (from == parent || strings.HasPrefix(from, parent+"/") || strings.HasPrefix(from, parent+"_test"))
}
