package main

// Type checking of a view's units, dependencies first, on all processors. Dependencies are checked without function bodies.

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// A source is a parsed file of the repository, shared by the variants of its package.
type source struct {
	once sync.Once
	uses int
	ast  *ast.File
}

type checker struct {
	*engine
	view          *view
	fset          *token.FileSet
	mu            sync.Mutex
	sources       map[string]*source
	paths         map[string]int32
	pathNames     []string // package paths by number
	methods       *methods
	platformNames *platformNames // only where the view has views of other platforms, or is one
	owners        sync.Map       // *types.Package → map[*types.Var]string
	versions      sync.Map       // *token.File → *decls, of the repository's files
}

func (e *engine) newChecker(v *view) *checker {
	c := &checker{engine: e, view: v, fset: token.NewFileSet(), sources: map[string]*source{}, paths: map[string]int32{}}
	c.methods = newMethods(c)
	for _, other := range e.views {
		if other.base == v.index || v.base >= 0 {
			c.platformNames = newPlatformNames()
		}
	}
	return c
}

func (c *checker) pathNumber(path string) int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.paths[path]
	if !ok {
		n = int32(len(c.pathNames))
		c.paths[path] = n
		c.pathNames = append(c.pathNames, path)
	}
	return n
}

func (c *checker) pathName(number int32) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pathNames[number]
}

// checkAll type-checks every unit after its imports and records the facts of those in the repository.
func (c *checker) checkAll(units []*unit) {
	c.connect(units)
	for _, u := range units {
		u.dirty = true
	}
	c.checkStale(units)
}

// connect numbers the packages of the units and lists the importers of each unit.
func (c *checker) connect(units []*unit) {
	for _, u := range units {
		u.path = c.pathNumber(c.cleanPath(u.PkgPath))
		u.users = nil
	}
	for _, u := range units {
		for _, imported := range u.imports {
			imported.users = append(imported.users, u)
		}
	}
}

// checkStale checks the units that are dirty, then those whose imports changed because of that.
func (c *checker) checkStale(units []*unit) {
	chosen := map[*unit]bool{}
	for _, u := range units {
		chosen[u] = true
	}
	for _, u := range units {
		u.waiting, u.typesChanged, u.filesChanged, u.allNamesChanged, u.changedNames = 0, false, false, false, nil
		for _, imported := range u.imports {
			if chosen[imported] {
				u.waiting++
			}
		}
		for _, file := range u.files {
			if _, ok := c.fileIndex[file]; ok {
				if c.sources[file] == nil || c.sources[file].uses == 0 {
					c.sources[file] = &source{}
				}
				c.sources[file].uses++
			}
		}
	}
	ready := make(chan *unit, len(units))
	left := len(units)
	for _, u := range units {
		if u.waiting == 0 {
			ready <- u
		}
	}
	if left == 0 {
		close(ready)
	}
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for u := range ready {
				c.checkIfStale(u)
				c.mu.Lock()
				for _, user := range u.users {
					if !chosen[user] {
						continue
					}
					if user.waiting--; user.waiting == 0 {
						ready <- user
					}
				}
				if left--; left == 0 {
					close(ready)
				}
				c.mu.Unlock()
				c.countProgress()
			}
		})
	}
	group.Wait()
	for _, u := range units {
		u.dirty, u.typesChanged, u.filesChanged, u.allNamesChanged, u.changedNames = false, false, false, false, nil
	}
}

// checkIfStale checks a unit that is dirty or whose imports changed. A unit that mentions none of the changed names keeps
// its facts: only its declarations are checked again, for its types.
func (c *checker) checkIfStale(u *unit) {
	importsChanged := false
	for _, imported := range u.imports {
		importsChanged = importsChanged || imported.typesChanged
		u.dirty = u.dirty || imported.filesChanged
		u.allNamesChanged = u.allNamesChanged || imported.allNamesChanged
		for name := range imported.changedNames {
			u.addChangedName(name)
		}
	}
	if u.dirty || importsChanged {
		record := u.dirty || u.allNamesChanged || u.facts == nil || c.mentions(u)
		c.checkUnit(u, importsChanged, record)
	}
	for _, file := range u.files {
		c.release(file)
	}
}

func (u *unit) addChangedName(name string) {
	if u.changedNames == nil {
		u.changedNames = map[string]bool{}
	}
	u.changedNames[name] = true
}

// mentions reports whether a file of the unit contains one of the changed names.
func (c *checker) mentions(u *unit) bool {
	for _, file := range u.files {
		data, err := os.ReadFile(file)
		if err != nil {
			return true
		}
		start := -1
		for i, b := range data {
			if b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80 {
				if start < 0 {
					start = i
				}
			} else if start >= 0 {
				if u.changedNames[string(data[start:i])] {
					return true
				}
				start = -1
			}
		}
	}
	return false
}

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
	clauses := ""
	for _, file := range u.files {
		if _, ok := c.clauses.Load(file); ok {
			clauses += file + "\n"
		}
	}
	u.filesChanged, u.clauses = u.types != nil && clauses != u.clauses, clauses
	full := u.membership != outside && record
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
	pkg, facts := types.NewPackage(u.PkgPath, u.Name), &unitFacts{}
	c.recovering(u, facts, func() { _ = types.NewChecker(config, c.fset, pkg, info).Files(trees) })
	c.publish(u, pkg, importsChanged)
	switch {
	case full:
		c.recovering(u, facts, func() { c.record(u, pkg, trees, info, facts) })
		c.methods.markStale(u, facts)
		u.facts = facts
	case u.membership == workspace:
		u.facts.types = candidatesOf(u, pkg)
		c.methods.stale.Store(true)
	}
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
