package main

// One symbol in the builds of two platforms: keys of a platform's view in, the keys of the same symbols in its base view out.

import (
	"go/types"
	"strings"
	"sync"
)

// platformNames maps the keys of one view to symbol names that are the same on every platform, and back.
type platformNames struct {
	mu     sync.Mutex
	byKey  map[int32]string
	byName map[string]int32
}

func newPlatformNames() *platformNames {
	return &platformNames{byKey: map[int32]string{}, byName: map[string]int32{}}
}

func (t *platformNames) add(key int32, name string) {
	if strings.Contains(name, "#?") {
		return // a member without a nameable owner
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byKey[key] = name
	t.byName[name] = key
}

// nameable reports whether stableName is unique to the object in its package.
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

// linkPlatforms gives the keys of a platform's view the `also` relations that the same symbols have in the base view.
func (e *engine) linkPlatforms() {
	e.platformViews, e.platformRelations = map[int][]*view{}, map[int32][]relation{}
	if e.builtFor == nil {
		e.builtFor = map[platformFile]bool{}
	}
	for _, v := range e.views {
		if v.base < 0 {
			continue
		}
		e.platformViews[v.base] = append(e.platformViews[v.base], v)
		base, own := e.methods[v.base], e.methods[v.index]
		for name, key := range own.platformNames.byName {
			same, ok := base.platformNames.byName[name]
			if !ok {
				continue
			}
			for _, r := range base.relations[same] {
				if r.kind == "also" {
					e.platformRelations[key] = append(e.platformRelations[key], relation{"also", key, r.dest})
				}
			}
		}
	}
}

// platformKeys adds the keys that a symbol of the base view has in the views of other platforms that build its file.
func (e *engine) platformKeys(add func(int32), facts *fileFacts, path string, key int32) {
	for _, v := range e.platformViews[facts.view] {
		name, ok := e.methods[facts.view].platformNames.byKey[key]
		if !ok {
			return
		}
		if own, ok := e.methods[v.index].platformNames.byName[name]; ok && e.isBuiltFor(v.platform, path) {
			add(own)
		}
	}
}

// platformUses adds the keys by which methods of other platforms' views collect the uses of a method of the base view, in files
// that those platforms build: an interface that only a file of another platform implements.
func (e *engine) platformUses(add func(int32), facts *fileFacts, path string, method int32) {
	for _, v := range e.platformViews[facts.view] {
		name, ok := e.methods[facts.view].platformNames.byKey[method]
		if !ok {
			return
		}
		if uses, ok := e.methods[v.index].platformUses[name]; ok && e.isBuiltFor(v.platform, path) {
			add(uses)
		}
	}
}

func (e *engine) isBuiltFor(p platform, path string) bool {
	at := platformFile{p, path}
	e.lock.Lock()
	defer e.lock.Unlock()
	built, ok := e.builtFor[at]
	if !ok {
		built = p.matches(path)
		e.builtFor[at] = built
	}
	return built
}

type platformFile struct {
	platform platform
	path     string
}
