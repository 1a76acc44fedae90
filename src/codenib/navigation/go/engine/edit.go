package main

// An edit: the files that changed, were added or removed in, an engine with up-to-date units out.

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// applyEdit updates the engine after an edit; false when it has to be loaded anew.
func (e *engine) applyEdit(files []string, changed map[string]bool, before, after map[string]header) bool {
	builds := e.buildFiles()
	rebuilt := !maps.Equal(builds, e.buildFileTexts)
	e.buildFileTexts = builds
	other := rebuilt
	for file := range changed {
		old, was := before[file]
		now, is := after[file]
		other = other || was != is || !old.equal(now)
	}
	if other && !e.divideAgain(goFiles(files)) {
		return false
	}
	edited := map[string]bool{}
	for file := range changed {
		name := e.absolute(file)
		edited[name] = true
		e.forget(name)
		e.retain(name) // its syntax tree is shared by all views
		defer e.release(name)
		e.relocateDecls(file)
	}
	for _, s := range e.loaded {
		if other && (rebuilt || s.checker.view.unloaded || !e.adjustView(s, before, after)) {
			e.reloadView(s)
		}
		for _, u := range s.units {
			for _, file := range u.files {
				if edited[file] {
					u.edited, u.dirty = append(u.edited, file), true
				}
			}
		}
		s.checkDirty()
	}
	return !e.mustRestart.Load()
}

// buildFiles returns the files that define modules and workspaces, with their contents.
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

// divideAgain numbers added files and drops removed ones; false when the views changed.
func (e *engine) divideAgain(files []string) bool {
	views, of := divide(e.root, files)
	if !slices.EqualFunc(e.views, views, (*view).same) {
		return false
	}
	viewOf := make([]int, len(e.files), len(e.files)+8)
	for i := range viewOf {
		viewOf[i] = -1
	}
	indexOf := map[string]int32{}
	for i, file := range e.files {
		indexOf[file] = int32(i)
	}
	e.fileIndex = map[string]int32{}
	for i, file := range files {
		n, ok := indexOf[file]
		if !ok {
			n = int32(len(e.files))
			e.files, e.decls, viewOf = append(e.files, file), append(e.decls, nil), append(viewOf, -1)
		} else if e.viewOf[n] >= 0 && e.viewOf[n] != of[i] {
			return false
		}
		viewOf[n] = of[i]
		e.fileIndex[e.absolute(file)] = n
	}
	e.viewOf, e.builtFor = viewOf, nil
	for i, v := range views {
		e.views[i].patterns, e.views[i].ownDirs = v.patterns, v.ownDirs
	}
	return true
}

func (v *view) same(other *view) bool {
	return v.dir == other.dir && v.prefix == other.prefix && v.base == other.base && v.platform == other.platform &&
		slices.Equal(v.env, other.env) && maps.Equal(v.modules, other.modules)
}

// relocateDecls updates the targets in an edited file to the new places of its declarations.
func (e *engine) relocateDecls(file string) {
	n := int32(slices.Index(e.files, file))
	if n < 0 || e.decls[n] == nil {
		return
	}
	before, name := e.decls[n], e.absolute(file)
	e.decls[n] = nil
	e.clauses.Delete(name)
	if _, there := e.fileIndex[name]; there {
		e.parse(name) // notes its declarations
	}
	now := e.decls[n]
	if now == nil {
		now = &decls{}
	}
	e.table.relocate(n, before, now)
}

// checkDirty checks the dirty units and those that depend on them.
func (s *loadedView) checkDirty() {
	affected := map[*unit]bool{}
	var queue []*unit
	for _, u := range s.units {
		if u.dirty {
			affected[u] = true
			queue = append(queue, u)
		}
	}
	if len(queue) == 0 {
		return
	}
	for len(queue) > 0 {
		u := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, user := range u.users {
			if !affected[user] {
				affected[user] = true
				queue = append(queue, user)
			}
		}
	}
	var chosen []*unit
	for _, u := range s.units {
		if affected[u] {
			chosen = append(chosen, u)
		}
	}
	s.checker.checkStale(chosen)
}

// reloadView asks the go command for a view's packages again; unchanged units are reused.
func (e *engine) reloadView(s *loadedView) {
	v := s.checker.view
	if !slices.Contains(e.viewOf, v.index) {
		s.units, s.errors, s.unbuilt = nil, nil, 0
		s.checker.methods.stale.Store(true)
		return
	}
	e.report.Errors = nil
	units := e.load(v)
	s.errors, s.unbuilt = e.report.Errors, 0
	before := map[string]*unit{}
	for _, u := range s.units {
		before[u.ID] = u
	}
	unitNow := map[*unit]*unit{}
	for i, u := range units {
		for path, imported := range u.imports {
			u.imports[path] = unitNow[imported]
		}
		old := before[u.ID]
		switch {
		case old == nil:
			u.dirty = true
			old = u
		case old.membership != u.membership || old.scope != u.scope || old.Name != u.Name:
			u.dirty, u.types, u.surface = true, old.types, old.surface // to tell what others see of the difference
			old = u
		default:
			old.anew = goVersion(old) != goVersion(u) || !slices.Equal(old.OtherFiles, u.OtherFiles)
			old.dirty = old.anew || !slices.Equal(old.files, u.files)
			old.Package, old.files = u.Package, u.files
			old.setImports(u.imports)
		}
		unitNow[u] = old
		units[i] = old
		if old.membership == unbuilt {
			s.unbuilt++
		}
	}
	s.units = units
	s.checker.connect(units)
	s.checker.methods.stale.Store(true)
}
