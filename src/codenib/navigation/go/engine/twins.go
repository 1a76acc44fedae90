package main

// One symbol in two builds: the names that a file of another port asks for, found again in the view that it varies.

import (
	"go/types"
	"strings"
	"sync"
)

// twins maps the keys of one view to names that are the same in the views of other ports.
type twins struct {
	mu     sync.Mutex
	byKey  map[int32]string
	byName map[string]int32
}

func newTwins() *twins { return &twins{byKey: map[int32]string{}, byName: map[string]int32{}} }

func (t *twins) note(key int32, name string) {
	if strings.Contains(name, "#?") {
		return // a member without a nameable owner
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byKey[key] = name
	t.byName[name] = key
}

// nameable reports whether stableName tells the object from every other of its package.
func nameable(obj types.Object) bool {
	if obj.Pkg() == nil {
		return false
	}
	switch obj := origin(obj).(type) {
	case *types.PkgName, *types.Label:
		return false
	case *types.Func:
		return obj.Name() != "init" && obj.Name() != "_"
	case *types.Var:
		return obj.IsField() || obj.Parent() == obj.Pkg().Scope()
	}
	return obj.Parent() == obj.Pkg().Scope()
}

// linkPorts lets what is asked in a port's view also collect the corresponding methods' uses of its base view.
func (e *engine) linkPorts() {
	e.ports, e.portLinks = map[int][]*view{}, map[int32][]relation{}
	if e.built == nil {
		e.built = map[portFile]bool{}
	}
	for _, v := range e.views {
		if v.base < 0 {
			continue
		}
		e.ports[v.base] = append(e.ports[v.base], v)
		base, own := e.byView[v.base], e.byView[v.index]
		for name, key := range own.twins.byName {
			twin, ok := base.twins.byName[name]
			if !ok {
				continue
			}
			for _, r := range base.relations[twin] {
				if r.kind == "also" {
					e.portLinks[key] = append(e.portLinks[key], relation{"also", key, r.dest})
				}
			}
		}
	}
}

// portKeys adds to a name of the base view the keys that it has in the views of other ports which build its file.
func (e *engine) portKeys(add func(int32), run *fileRun, path string, key int32) {
	for _, v := range e.ports[run.view] {
		name, ok := e.byView[run.view].twins.byKey[key]
		if !ok {
			return
		}
		if own, ok := e.byView[v.index].twins.byName[name]; ok && e.builtFor(v.port, path) {
			add(own)
		}
	}
}

func (e *engine) builtFor(p port, path string) bool {
	at := portFile{p, path}
	e.runLock.Lock()
	defer e.runLock.Unlock()
	built, ok := e.built[at]
	if !ok {
		built = p.matches(path)
		e.built[at] = built
	}
	return built
}

type portFile struct {
	port port
	path string
}
