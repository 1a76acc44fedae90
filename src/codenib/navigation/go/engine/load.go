package main

// The packages of a view: the go command's answer in, one unit per package variant out, dependencies first.

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"maps"
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

// How files were read, in the words of the facts.
const (
	scopeProject    = "project"
	scopeLoose      = "loose"
	scopeVariant    = "variant"
	scopeUnresolved = "unresolved"
	scopePartial    = "partial" // imports lead to no package
)

// A membership says which searches for references include the files of a package.
type membership int

const (
	outside   membership = iota // no file in the repository, or a variant that repeats another's files
	workspace                   // searched for references by everybody in the view
	orphan                      // in the repository, but searched only for what it declares itself (vendor, testdata)
	otherView                   // belongs to another view of the repository and is a dependency in this one
	unbuilt                     // a file outside of every build: only its own names are searched in it
)

// A unit is one compilation unit of a view: a package, or a variant of it that tests need.
type unit struct {
	*packages.Package
	membership membership
	scope      string // how its files were read, if not by the repository's own configuration
	types      *types.Package
	files      []string // what it is compiled from
	imports    map[string]*unit
	users      []*unit
	waiting    int
	path       int32 // number of the package path in the view
	facts      *unitFacts
	surface    map[string]string // of types, in a resident engine
	clauses    string            // the files that an import of it leads to
	documented string            // the file whose package clause has the documentation, if any
	change
}

// A change is what an edit does to a unit, while it is applied.
type change struct {
	dirty           bool             // its files or imports changed
	anew            bool             // more than that did: no file keeps its facts
	edited          []string         // the files that changed
	oldImports      map[string]*unit // its imports before, if they changed
	touchedPaths    map[string]bool  // imports that lead elsewhere now
	typesChanged    bool             // its types are new objects
	filesChanged    bool             // an import of it leads to other files
	allNamesChanged bool             // every name may mean something else in its importers
	changedNames    map[string]bool  // or only these
}

// setImports replaces the imports of a unit.
func (u *unit) setImports(imports map[string]*unit) {
	if maps.Equal(u.imports, imports) {
		return
	}
	if u.oldImports == nil {
		u.oldImports = u.imports
	}
	u.imports, u.dirty = imports, true
}

// unitFacts are the facts of one unit, before they are merged with those of others.
type unitFacts struct {
	files  []*fileNotes
	types  []*candidate
	failed []string
}

// fileNotes are the facts of a file in a unit, and what it adds to what is known of its package.
type fileNotes struct {
	path       string
	file       int32
	facts      *fileFacts
	methods    []methodRef
	methodUses []int32 // keys of methods
	localKeys  []localKeyOf
	names      []symbolName
	imports    int
	missing    []string
	satisfies  bool // what a name of it means can depend on a method set that it does not mention
}

type methodRef struct {
	key int32
	fn  *types.Func
}

type localKeyOf struct{ key, local, pkg int32 }

type symbolName struct {
	key  int32
	name string
}

// load asks the go command for the view's packages.
func (e *engine) load(v *view) []*unit {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // a download can hang
	defer cancel()
	config := &packages.Config{
		Context:    ctx,
		BuildFlags: []string{"-buildvcs=false"}, // asking the version control system would run the repository's settings
		Mode:       loadMode, Dir: v.dir, Tests: v.base < 0 || e.hasTests(v), Fset: token.NewFileSet(),
		Env: append(append(os.Environ(), "GOPACKAGESDRIVER=off", "GOTOOLCHAIN=local"), v.env...),
	}
	if v.platform.tags != "" {
		config.BuildFlags = append(config.BuildFlags, "-tags="+v.platform.tags)
	}
	roots, err := packages.Load(config, v.patterns...)
	if err != nil {
		reason := fmt.Sprintf("go list in %s: %v", e.relative(v.dir), err)
		e.report.Errors = append(e.report.Errors, strings.ReplaceAll(reason, e.root, "."))
		v.unloaded = true
		return e.unloadedPackages(v)
	}
	v.unloaded = false
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
		if !testMain(p) && len(p.CompiledGoFiles) > 0 && (p.ForTest == "" || e.inRepository(p)) {
			add(p)
		}
		e.noteErrors(v, p)
	}
	for _, u := range order {
		u.membership = e.membershipOf(v, u)
		u.scope = scopeOf(v, u)
	}
	return append(order, e.unbuiltFiles(v, order)...)
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

func (e *engine) inRepository(p *packages.Package) bool {
	return slices.ContainsFunc(p.CompiledGoFiles, func(file string) bool { _, ok := e.fileIndex[file]; return ok })
}

// unbuiltFiles returns one unit for each file of the view that no package includes.
func (e *engine) unbuiltFiles(v *view, units []*unit) []*unit {
	byPath := map[string]*unit{}
	inPackage := map[string]bool{}
	for _, u := range units {
		if u.ForTest == "" {
			byPath[u.PkgPath] = u
		}
		for _, file := range u.files {
			inPackage[file] = true
		}
	}
	var out []*unit
	for i, file := range e.files {
		path := filepath.Join(e.root, filepath.FromSlash(file))
		if e.viewOf[i] != v.index || inPackage[path] {
			continue
		}
		id := "command-line-arguments/" + file
		u := &unit{Package: &packages.Package{ID: id, PkgPath: id, Name: packageName(path)}, files: []string{path},
			imports: map[string]*unit{}, membership: unbuilt, scope: scopeLoose}
		u.TypesSizes = types.SizesFor("gc", v.platform.arch)
		if isIgnored(path) {
			u.membership = orphan // a script of its own: gopls searches it while it is open
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

// scopeOf says how the files of a package were read.
func scopeOf(v *view, u *unit) string {
	switch {
	case v.base >= 0:
		return scopeVariant
	case u.membership == orphan && !strings.Contains(filepath.ToSlash(u.files[0]), "/vendor/"):
		return scopeLoose // testdata and the like, which "..." leaves out
	}
	return scopeProject
}

func testMain(p *packages.Package) bool {
	return p.Name == "main" && strings.HasSuffix(p.PkgPath, ".test") && len(p.GoFiles) <= 1
}

func (u *unit) intermediate() bool {
	return u.ForTest != "" && u.ForTest != u.PkgPath && u.ForTest+"_test" != u.PkgPath
}

func (e *engine) membershipOf(v *view, u *unit) membership {
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
		return outside // its facts come from the base view
	case !home:
		return otherView
	case v.modules == nil:
		return workspace
	case vendored || u.Module == nil || !v.modules[filepath.Dir(u.Module.GoMod)]:
		return orphan
	case isHidden(strings.TrimPrefix(dir, filepath.Dir(u.Module.GoMod))):
		return orphan
	}
	return workspace
}

// noteErrors adds the first errors of the go command to the report.
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
