package main

// The packages of a view: the go command's answer in, one unit per package variant out, dependencies first.

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
)

// typecheckCgo asks go/packages for cgo files as written, with the declarations of C names beside them. The bit has no
// exported name; it follows NeedForTest in the pinned version of golang.org/x/tools.
const typecheckCgo = packages.NeedForTest << 1

const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedTypesSizes | packages.NeedModule | packages.NeedForTest | typecheckCgo

// A standing says how far the references of a package's files reach.
type standing int

const (
	outside   standing = iota // no file in the repository, or a variant that repeats another's files
	workspace                 // searched for references by everybody in the view
	orphan                    // in the repository, but searched only for what it declares itself (vendor, testdata)
	foreign                   // belongs to another view of the repository and is seen from this one as a dependency
	alone                     // a file outside of every build: only its own names are searched in it
	mute                      // such a file beside a package that is built: live answers nothing in it
)

// A unit is one package variant of a view.
type unit struct {
	*packages.Package
	standing standing
	types    *types.Package
	files    []string // what the compiler sees
	imports  map[string]*unit
	users    []*unit
	waiting  int
	path     int32 // number of the package path in the view
	told     *told
	surface  map[string]string // of types, in an engine that stays
	clauses  string            // the files that an import of it leads to

	// What a round finds out.
	dirty   bool            // its files or imports are others than before
	changed bool            // its types are other objects than before
	refiled bool            // an import of it leads to other files than before
	wide    bool            // every name may mean something else in who imports it
	names   map[string]bool // or only these
}

// told is what a unit's facts say to the view and the engine.
type told struct {
	runs    []placedRun
	notes   []noted
	uses    []int32 // methods
	locals  []localNote
	twins   []twinNote
	types   []*candidate
	imports int
	missing []string
	failed  []string
}

type placedRun struct {
	file int32
	run  *fileRun
}

type noted struct {
	key int32
	fn  *types.Func
}

type localNote struct{ key, local, pkg int32 }

type twinNote struct {
	key  int32
	name string
}

// load asks the go command for the view's packages.
func (e *engine) load(v *view) ([]*unit, error) {
	patience, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // a download can hang
	defer cancel()
	config := &packages.Config{
		Context:    patience,
		BuildFlags: []string{"-buildvcs=false"}, // asking the version control system would run the repository's settings
		Mode:       loadMode, Dir: v.dir, Tests: v.base < 0 || e.hasTests(v), Fset: token.NewFileSet(),
		Env: append(append(os.Environ(), "GOPACKAGESDRIVER=off", "GOTOOLCHAIN=local"), v.env...),
	}
	roots, err := packages.Load(config, v.patterns...)
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", e.relative(v.dir), err)
	}
	units := map[*packages.Package]*unit{}
	var order []*unit
	var add func(p *packages.Package) *unit
	add = func(p *packages.Package) *unit {
		if u, ok := units[p]; ok {
			return u
		}
		u := &unit{Package: p, imports: map[string]*unit{}, files: p.CompiledGoFiles}
		units[p] = u
		for path, imported := range p.Imports {
			if path == "unsafe" || path == "C" || imported.Name == "" || len(imported.CompiledGoFiles) == 0 {
				continue // missing: the type checker reports it and goes on
			}
			u.imports[path] = add(imported)
		}
		order = append(order, u)
		return u
	}
	slices.SortFunc(roots, func(a, b *packages.Package) int { return strings.Compare(a.ID, b.ID) })
	for _, p := range roots {
		if !testMain(p) && len(p.CompiledGoFiles) > 0 && (p.ForTest == "" || e.holds(p)) {
			add(p)
		}
		e.noteErrors(v, p)
	}
	for _, u := range order {
		u.standing = e.standingOf(v, u)
	}
	return append(order, e.singles(v, order)...), nil
}

// hasTests reports whether a file of the view is a test.
func (e *engine) hasTests(v *view) bool {
	for i, file := range e.files {
		if e.viewOf[i] == v.index && strings.HasSuffix(file, "_test.go") {
			return true
		}
	}
	return false
}

func (e *engine) holds(p *packages.Package) bool {
	return slices.ContainsFunc(p.CompiledGoFiles, func(file string) bool { _, ok := e.fileIndex[file]; return ok })
}

// singles makes a unit of each of the view's files that no package includes.
func (e *engine) singles(v *view, units []*unit) []*unit {
	byPath := map[string]*unit{}
	seen, built := map[string]bool{}, map[string]bool{}
	for _, u := range units {
		if u.ForTest == "" {
			byPath[u.PkgPath] = u
		}
		for _, file := range u.files {
			seen[file] = true
			built[filepath.Dir(file)] = true
		}
	}
	var out []*unit
	for i, file := range e.files {
		path := filepath.Join(e.root, filepath.FromSlash(file))
		if e.viewOf[i] != v.index || seen[path] {
			continue
		}
		id := "command-line-arguments/" + file
		u := &unit{Package: &packages.Package{ID: id, PkgPath: id, Name: packageName(path)}, files: []string{path},
			imports: map[string]*unit{}, standing: alone}
		u.TypesSizes = types.SizesFor("gc", v.port.arch)
		switch {
		case ignored(path):
			u.standing = orphan // a script of its own: live searches it while it is open
		case built[filepath.Dir(path)]:
			u.standing = mute
		}
		for _, imported := range importsOf(path) {
			if dep := byPath[imported]; dep != nil {
				u.imports[imported] = dep
			}
		}
		out = append(out, u)
	}
	return out
}

func testMain(p *packages.Package) bool {
	return p.Name == "main" && strings.HasSuffix(p.PkgPath, ".test") && len(p.GoFiles) <= 1
}

func (u *unit) intermediate() bool {
	return u.ForTest != "" && u.ForTest != u.PkgPath && u.ForTest+"_test" != u.PkgPath
}

func (e *engine) standingOf(v *view, u *unit) standing {
	if u.intermediate() {
		return outside
	}
	here, home, vendored, dir := false, false, true, ""
	for _, file := range u.files {
		if index, ok := e.fileIndex[file]; ok {
			here, dir = true, filepath.Dir(file)
			home = home || e.viewOf[index] == v.index
			vendored = vendored && strings.Contains(filepath.ToSlash(file), "/vendor/")
		}
	}
	switch {
	case !here:
		return outside
	case !home && v.base >= 0:
		return outside // its names are taken from the view that this one varies
	case !home:
		return foreign
	case v.modules == nil:
		return workspace
	case vendored || u.Module == nil || !v.modules[filepath.Dir(u.Module.GoMod)]:
		return orphan
	case hidden(strings.TrimPrefix(dir, filepath.Dir(u.Module.GoMod))):
		return orphan
	}
	return workspace
}

// noteErrors keeps the first errors of the go command for the report.
func (e *engine) noteErrors(v *view, p *packages.Package) {
	if v.base >= 0 {
		return
	}
	for _, err := range p.Errors {
		if len(e.report.Errors) < 20 {
			e.report.Errors = append(e.report.Errors, strings.ReplaceAll(p.PkgPath+": "+err.Msg, e.root, "."))
		}
	}
}
