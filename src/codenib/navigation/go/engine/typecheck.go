package main

// One unit in, its type-checked package and facts out. Dependencies are checked without function bodies.

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/types"
	"maps"
	"os"
	"reflect"
	"runtime"
	"strings"
	"unsafe"
)

func (c *checker) parse(file string) *ast.File {
	mode := parser.AllErrors | parser.SkipObjectResolution
	s := c.sources[file]
	if s == nil {
		tree, _ := parser.ParseFile(c.fset, file, nil, mode)
		return tree
	}
	s.once.Do(func() {
		s.ast, _ = parser.ParseFile(c.fset, file, nil, mode|parser.ParseComments)
		if s.ast != nil && s.ast.Name != nil {
			c.recordVersion(file, s.ast)
			if at, ok := c.place(s.ast.Name.Pos()); ok {
				c.clauses.Store(file, at)
				if c.view.base >= 0 && c.viewOf[at.file] != c.view.index {
					dropBodies(s.ast) // its facts come from the base view
				}
			}
		}
	})
	return s.ast
}

func dropBodies(tree *ast.File) {
	for _, decl := range tree.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			fn.Body = nil
		}
	}
}

func (c *checker) release(file string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sources[file]; s != nil {
		if s.uses--; s.uses == 0 {
			s.ast = nil
		}
	}
}

// recordVersion remembers which version of a file the positions of this syntax tree belong to.
func (c *checker) recordVersion(file string, tree *ast.File) {
	if !c.resident {
		return
	}
	n, at := c.fileIndex[file], c.fset.File(tree.FileStart)
	c.declLock.Lock()
	defer c.declLock.Unlock()
	if c.decls[n] == nil {
		c.decls[n] = newDecls(at, tree)
	}
	c.versions.Store(at, c.decls[n])
}

// checkUnit type-checks a unit. `importsChanged` says that imported types are other objects than before. Without `record`
// only declarations are checked, and the facts stay.
func (c *checker) checkUnit(u *unit, importsChanged, record bool) {
	if u.PkgPath == "unsafe" {
		u.types = types.Unsafe
		return
	}
	var trees []*ast.File
	for _, file := range u.files {
		if tree := c.parse(file); tree != nil {
			trees = append(trees, tree)
		}
	}
	clauses := c.clausesOf(u)
	u.filesChanged, u.clauses = u.types != nil && clauses != u.clauses, clauses
	full := u.membership != outside && record
	facts := &unitFacts{}
	pkg, info := c.checkTrees(u, trees, full, facts)
	c.publish(u, pkg, importsChanged)
	switch {
	case full:
		documented := c.documentedIn(trees)
		u.documented = c.nameOf(documented)
		c.recovering(u, facts, func() {
			c.record(u, pkg, trees, documented, info, facts)
			if u.membership == workspace {
				facts.types = candidatesOf(u, pkg)
			}
		})
		c.methods.markStale(u, facts)
		u.facts = facts
	case u.membership == workspace:
		u.facts.types = candidatesOf(u, pkg)
		c.methods.stale.Store(true)
	}
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

// publish decides which package importers use: the previous one when the surface is the same, so that their own types stay
// valid, else the new one.
func (c *checker) publish(u *unit, pkg *types.Package, importsChanged bool) {
	if !c.resident {
		u.types = pkg
		return
	}
	if u.membership == outside && u.types == nil && !u.intermediate() {
		u.types, u.typesChanged, u.allNamesChanged = pkg, true, true // rarely edited: its surface is not worth the memory
		return
	}
	surface := surfaceOf(pkg)
	if u.types != nil && !importsChanged && u.surface != nil && maps.Equal(surface, u.surface) {
		return
	}
	c.methods.stale.Store(true)
	if u.types != nil {
		c.replaced.Store(u.types, u)
	}
	if u.types == nil || u.surface == nil {
		u.allNamesChanged = true
	} else {
		names, wide := changedNames(u.surface, surface)
		u.allNamesChanged = u.allNamesChanged || wide
		for _, name := range names {
			u.addChangedName(name)
		}
	}
	u.types, u.surface, u.typesChanged = pkg, surface, true
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
