package main

// The units of a view in, the stale ones among them checked out: dependencies first, on all processors.

import (
	"runtime"
	"sync"
)

type checker struct {
	*engine
	view          *view
	mu            sync.Mutex
	paths         map[string]int32
	pathNames     []string // package paths by number
	methods       *methods
	platformNames *platformNames // only where the view has views of other platforms, or is one
	owners        sync.Map       // *types.Package → map[*types.Var]string
}

func (e *engine) newChecker(v *view) *checker {
	c := &checker{engine: e, view: v, paths: map[string]int32{}}
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
		u.waiting = 0
		for _, imported := range u.imports {
			if chosen[imported] {
				u.waiting++
			}
		}
		for _, file := range u.files {
			c.retain(file)
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
		u.change = change{}
	}
}

// checkIfStale checks a unit that is dirty or whose imports changed; where that suffices, the files that can differ.
func (c *checker) checkIfStale(u *unit) {
	importsChanged := false
	for path, imported := range u.imports {
		importsChanged = importsChanged || imported.typesChanged
		if imported.filesChanged {
			u.touch(path)
		}
		u.allNamesChanged = u.allNamesChanged || imported.allNamesChanged
		for name := range imported.changedNames {
			u.addChangedName(name)
		}
	}
	if (u.dirty || importsChanged || len(u.touchedPaths) > 0) && !c.checkSelected(u, importsChanged) {
		c.checkUnit(u, importsChanged)
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

// touch notes an import path that leads elsewhere now.
func (u *unit) touch(path string) {
	if u.touchedPaths == nil {
		u.touchedPaths = map[string]bool{}
	}
	u.touchedPaths[path] = true
}
