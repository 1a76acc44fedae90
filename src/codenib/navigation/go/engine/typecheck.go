package main

// One unit in, its type-checked package and facts out. Dependencies are checked without function bodies.

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/types"
	"os"
	"reflect"
	"runtime"
	"strings"
	"unsafe"
)

// checkUnit type-checks a unit and records the facts of all its files. `importsChanged` says that imported types are other
// objects than before.
func (c *checker) checkUnit(u *unit, importsChanged bool) {
	if u.PkgPath == "unsafe" {
		u.types = types.Unsafe
		return
	}
	var trees []*ast.File
	for _, file := range u.files {
		if tree := c.treeOf(u, file); tree != nil {
			trees = append(trees, tree)
		}
	}
	clauses := c.clausesOf(u)
	u.filesChanged, u.clauses = u.types != nil && clauses != u.clauses, clauses
	full := u.membership != outside
	facts := &unitFacts{}
	pkg, info := c.checkTrees(u, trees, full, facts)
	c.publish(u, pkg, nil, importsChanged)
	if !full {
		return
	}
	documented := c.documentedIn(trees)
	u.documented = c.nameOf(documented)
	c.recovering(u, facts, func() {
		c.record(u, pkg, trees, documented, info, facts)
		c.refer(facts.files, pkg, u.types)
		facts.types = candidatesOf(u, u.types)
	})
	c.methods.markStale(u, facts)
	u.facts = facts
}

// treeOf is the syntax tree of a unit's file, with function bodies where its facts are recorded.
func (c *checker) treeOf(u *unit, file string) *ast.File {
	if _, ok := c.fileIndex[file]; ok && (u.membership == outside || !c.isRecorded(file)) {
		return c.declarations(file)
	}
	return c.parse(file)
}

// isRecorded reports whether this view records facts of a file: a view of another platform leaves them to its base.
func (c *checker) isRecorded(file string) bool {
	n, ok := c.fileIndex[file]
	return ok && (c.view.base < 0 || c.viewOf[n] == c.view.index)
}

// checkTrees type-checks the files of a unit; `full` says whether function bodies count.
func (c *checker) checkTrees(u *unit, trees []*ast.File, full bool, facts *unitFacts) (*types.Package, *types.Info) {
	config := &types.Config{
		Importer:         importer(func(path string) (*types.Package, error) { return c.imported(u, path) }),
		Error:            func(error) {},
		IgnoreFuncBodies: !full,
		Sizes:            u.TypesSizes,
		GoVersion:        goVersion(u),
	}
	useCgo(config)
	info := &types.Info{}
	if full {
		info.Defs = map[*ast.Ident]types.Object{}
		info.Uses = map[*ast.Ident]types.Object{}
		info.Implicits = map[ast.Node]types.Object{}
		info.Scopes = map[ast.Node]*types.Scope{}
	}
	pkg := types.NewPackage(u.PkgPath, u.Name)
	c.recovering(u, facts, func() { _ = types.NewChecker(config, c.fset, pkg, info).Files(trees) })
	return pkg, info
}

// clausesOf lists the files that an import of a unit leads to.
func (c *checker) clausesOf(u *unit) string {
	clauses := ""
	for _, file := range u.files {
		if _, ok := c.clauses.Load(file); ok {
			clauses += file + "\n"
		}
	}
	return clauses
}

// nameOf is the name of a parsed file; "" for none.
func (c *checker) nameOf(tree *ast.File) string {
	if tree == nil {
		return ""
	}
	return c.fset.File(tree.FileStart).Name()
}

// publish decides which package importers use: the previous one when they see the same of both, so that their own types stay
// valid, else the new one. `surface` is that of the package, if it is known.
func (c *checker) publish(u *unit, pkg *types.Package, surface map[string]string, importsChanged bool) {
	if !c.resident {
		u.types = pkg
		return
	}
	before := u.surface
	if before == nil && u.types != nil {
		before = surfaceOf(u.types)
	}
	keep := u.membership != outside || u.intermediate() // others are rarely edited: not worth the memory
	if surface == nil && (keep || u.types != nil) {
		surface = surfaceOf(pkg)
	}
	if u.surface = nil; keep {
		u.surface = surface
	}
	if u.types == nil {
		u.types, u.typesChanged = pkg, true // who sees it has other imports than before
		return
	}
	names, wide := changedNames(before, surface, outer)
	if !importsChanged && !wide && len(names) == 0 {
		return
	}
	c.methods.stale.Store(true)
	c.replaced.Store(u.types, u)
	u.allNamesChanged = u.allNamesChanged || wide
	for name := range names {
		u.addChangedName(name)
	}
	u.types, u.typesChanged = pkg, true
}

// recovering limits a panic of the type checker on ill-typed code to one package, and lists it in the report.
func (c *checker) recovering(u *unit, facts *unitFacts, work func()) {
	defer func() {
		if p := recover(); p != nil {
			stack := make([]byte, 4096)
			stack = stack[:runtime.Stack(stack, false)]
			if os.Getenv("GOFACTS_TRACE") != "" {
				fmt.Fprintf(os.Stderr, "%s: %v\n%s\n", u.ID, p, stack)
			}
			facts.failed = append(facts.failed, fmt.Sprintf("%s: %v", u.ID, p))
		}
	}()
	work()
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }

func (c *checker) imported(u *unit, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if dep := u.imports[path]; dep != nil && dep.types != nil {
		return dep.types, nil
	}
	return nil, fmt.Errorf("no package %q", path)
}

// goVersion is the language version of the package's module, or "" when it is newer than this type checker.
func goVersion(u *unit) string {
	if u.Module == nil || u.Module.GoVersion == "" {
		return ""
	}
	version := "go" + u.Module.GoVersion
	tags := build.Default.ReleaseTags
	if newer(version, tags[len(tags)-1]) {
		return ""
	}
	return version
}

func newer(a, b string) bool {
	var x, y int
	fmt.Sscanf(a, "go1.%d", &x)
	fmt.Sscanf(b, "go1.%d", &y)
	return x > y || !strings.HasPrefix(a, "go1")
}

// useCgo lets the type checker resolve C.name through the generated declarations; the field has no exported name.
func useCgo(config *types.Config) {
	field := reflect.ValueOf(config).Elem().FieldByName("go115UsesCgo")
	if field.IsValid() && field.Kind() == reflect.Bool {
		*(*bool)(unsafe.Pointer(field.UnsafeAddr())) = true
	}
}
