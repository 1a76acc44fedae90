package main

// A view whose packages the go command cannot load: its files in, one unit per package out, with what they import of each
// other. Their dependencies outside of the repository stay unknown. A go.mod that asks for a newer Go is the usual reason.

import (
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"
)

// unloadedPackages returns a unit for the package of each folder, and one more where it has tests; dependencies first.
func (e *engine) unloadedPackages(v *view) []*unit {
	type place struct{ dir, name string }
	groups := map[place][]string{}
	for i, file := range e.files {
		if e.viewOf[i] == v.index {
			full := e.absolute(file)
			groups[place{filepath.Dir(full), packageName(full)}] = append(groups[place{filepath.Dir(full), packageName(full)}], full)
		}
	}
	byPath := map[string]*unit{}
	var units []*unit
	add := func(at place, files []string, forTest string) {
		importPath := e.importPath(at.dir)
		id := importPath + " " + at.name + " " + forTest
		u := &unit{Package: &packages.Package{ID: id, PkgPath: importPath, Name: at.name, ForTest: forTest}, files: files,
			imports: map[string]*unit{}, membership: workspace, scope: scopeLoose}
		if strings.HasSuffix(at.name, "_test") {
			u.PkgPath += "_test"
		}
		u.TypesSizes = types.SizesFor("gc", v.platform.arch)
		units = append(units, u)
		if forTest == "" && byPath[importPath] == nil {
			byPath[importPath] = u
		}
	}
	places := slices.SortedFunc(maps.Keys(groups), func(a, b place) int { return strings.Compare(a.dir+"\x00"+a.name, b.dir+"\x00"+b.name) })
	for _, at := range places {
		isTest := func(file string) bool { return strings.HasSuffix(file, "_test.go") }
		if sources := slices.DeleteFunc(slices.Clone(groups[at]), isTest); len(sources) > 0 {
			add(at, sources, "")
		}
		if slices.ContainsFunc(groups[at], isTest) {
			add(at, groups[at], e.importPath(at.dir))
		}
	}
	return linkUnits(units, byPath)
}

// linkUnits sets the imports of units and orders them; an import that closes a circle is left out.
func linkUnits(units []*unit, byPath map[string]*unit) []*unit {
	var order []*unit
	const entered, left = 1, 2
	state := map[*unit]int{}
	var visit func(u *unit)
	visit = func(u *unit) {
		state[u] = entered
		for _, file := range u.files {
			for _, imported := range importsOf(file) {
				dep := byPath[imported]
				if dep == nil || state[dep] == entered {
					continue
				}
				if state[dep] != left {
					visit(dep)
				}
				u.imports[imported] = dep
			}
		}
		state[u] = left
		order = append(order, u)
	}
	for _, u := range units {
		if state[u] == 0 {
			visit(u)
		}
	}
	return order
}

// importPath is what other packages import a folder by: the path of its module, and the folder below it.
func (e *engine) importPath(dir string) string {
	for at := dir; len(at) >= len(e.root); at = filepath.Dir(at) {
		if data, err := os.ReadFile(filepath.Join(at, "go.mod")); err == nil {
			below, _ := filepath.Rel(at, dir)
			return path.Join(modfile.ModulePath(data), filepath.ToSlash(below))
		}
	}
	return e.relative(dir)
}
