package main

// Type checking of a view's units, dependencies first, on all processors. Dependencies are checked without function bodies.

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
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
	view      *view
	fset      *token.FileSet
	mu        sync.Mutex
	sources   map[string]*source
	paths     map[string]int32
	pathNames []string // package paths by number
	methods   *methods
	twins     *twins   // only where the view has variants for other ports, or is one
	owners    sync.Map // *types.Package → map[*types.Var]string
}

func (e *engine) newChecker(v *view) *checker {
	c := &checker{engine: e, view: v, fset: e.kept.fset(v), sources: map[string]*source{}, paths: map[string]int32{}}
	c.methods = newMethods(c)
	for _, other := range e.views {
		if other.base == v.index || v.base >= 0 {
			c.twins = newTwins()
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
	for _, u := range units {
		u.path = c.pathNumber(c.cleanPath(u.PkgPath))
		for _, imported := range u.imports {
			imported.users = append(imported.users, u)
		}
	}
	c.checkSome(units)
}

// checkSome does so for units whose other imports are checked already.
func (c *checker) checkSome(units []*unit) {
	chosen := map[*unit]bool{}
	for _, u := range units {
		chosen[u] = true
	}
	for _, u := range units {
		u.waiting, u.journal = 0, nil
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
				c.checkUnit(u)
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
				c.tick()
			}
		})
	}
	group.Wait()
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
			if at, ok := c.place(s.ast.Name.Pos()); ok {
				c.clauses.Store(file, at)
				if c.view.base >= 0 && c.viewOf[at.file] != c.view.index {
					dropBodies(s.ast) // its names are taken from the view that this one varies
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

func (c *checker) checkUnit(u *unit) {
	if u.PkgPath == "unsafe" {
		u.types = types.Unsafe
		return
	}
	if u.standing == outside && c.kept.reuse(c.view, u) {
		return
	}
	var trees []*ast.File
	for _, file := range u.files {
		if tree := c.parse(file); tree != nil {
			trees = append(trees, tree)
		}
	}
	config := &types.Config{
		Importer:         importer(func(path string) (*types.Package, error) { return c.imported(u, path) }),
		Error:            func(error) {},
		IgnoreFuncBodies: u.standing == outside,
		Sizes:            u.TypesSizes,
		GoVersion:        goVersion(u),
	}
	useCgo(config)
	info := &types.Info{}
	if u.standing != outside {
		info.Defs = map[*ast.Ident]types.Object{}
		info.Uses = map[*ast.Ident]types.Object{}
		info.Implicits = map[ast.Node]types.Object{}
		info.Scopes = map[ast.Node]*types.Scope{}
	}
	u.types = types.NewPackage(u.PkgPath, u.Name)
	c.guarded(u, func() { _ = types.NewChecker(config, c.fset, u.types, info).Files(trees) })
	if u.standing != outside {
		c.guarded(u, func() { c.record(u, trees, info) })
	} else {
		c.kept.keep(c.view, u)
	}
	for _, file := range u.files {
		c.release(file)
	}
}

// guarded keeps a panic of the type checker on ill-typed code inside one package, and says so in the report.
func (c *checker) guarded(u *unit, work func()) {
	defer func() {
		if p := recover(); p != nil {
			stack := make([]byte, 4096)
			stack = stack[:runtime.Stack(stack, false)]
			if os.Getenv("GOFACTS_TRACE") != "" {
				fmt.Fprintf(os.Stderr, "%s: %v\n%s\n", u.ID, p, stack)
			}
			failed := fmt.Sprintf("%s: %v", u.ID, p)
			u.tell(func() { c.report.Failed = append(c.report.Failed, failed) })
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

// goVersion is the language version of the package's module, when this checker knows it.
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
