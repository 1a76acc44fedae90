package main

// The units of a view in, the stale ones among them checked out: dependencies first, on all processors.

import (
	"go/ast"
	"go/token"
	"os"
	"runtime"
	"sync"
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
	skeletons     map[string]*ast.File // declarations of files, without bodies
	paths         map[string]int32
	pathNames     []string // package paths by number
	methods       *methods
	platformNames *platformNames // only where the view has views of other platforms, or is one
	owners        sync.Map       // *types.Package → map[*types.Var]string
	versions      sync.Map       // *token.File → *decls, of the repository's files
}

func (e *engine) newChecker(v *view) *checker {
	c := &checker{engine: e, view: v, fset: token.NewFileSet(), sources: map[string]*source{},
		skeletons: map[string]*ast.File{}, paths: map[string]int32{}}
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
		u.edited = nil
	}
}

// checkIfStale checks a unit that is dirty or whose imports changed. A unit that mentions none of the changed names keeps
// its facts: only its declarations are checked again, for its types.
func (c *checker) checkIfStale(u *unit) {
	importsChanged := false
	for _, imported := range u.imports {
		importsChanged = importsChanged || imported.typesChanged
		if imported.filesChanged {
			u.dirty, u.edited = true, nil
		}
		u.allNamesChanged = u.allNamesChanged || imported.allNamesChanged
		for name := range imported.changedNames {
			u.addChangedName(name)
		}
	}
	isAlone := len(u.edited) > 0 && !u.allNamesChanged && len(u.changedNames) == 0
	if importsChanged || u.dirty && !(isAlone && c.checkEdited(u)) {
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
