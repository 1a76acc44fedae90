package main

// Keys of symbols: an object of the type checker in, the target that stands for it in every file out.

import (
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// origin is the generic declaration behind an instantiated field or method.
func origin(obj types.Object) types.Object {
	switch obj := obj.(type) {
	case *types.Var:
		return obj.Origin()
	case *types.Func:
		return obj.Origin()
	}
	return obj
}

// cleanPath is a package path without folders of this machine (packages outside of modules are named by their folder).
func (c *checker) cleanPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "_"+filepath.ToSlash(c.root)); ok {
		return "." + rest
	}
	if _, rest, ok := strings.Cut(path, "command-line-arguments"); ok {
		return "command-line-arguments" + strings.TrimPrefix(rest, c.root)
	}
	return path
}

// place converts a position to a place in the current files of the repository.
func (c *checker) place(pos token.Pos) (target, bool) {
	f := c.fset.File(pos)
	if f == nil {
		return target{}, false
	}
	p := f.PositionFor(pos, false)
	file, ok := c.fileIndex[p.Filename]
	at := target{file: file, line: int32(p.Line - 1), col: int32(p.Column - 1)}
	if known, older := c.versions.Load(f); ok && older && known != c.decls[file] {
		now, there := c.decls[file].relocate(known.(*decls), at)
		if !there {
			c.mustRestart.Store(true)
		}
		return now, true
	}
	return at, ok
}

// definition is the target of obj's declaration, the same in every view.
func (c *checker) definition(obj types.Object) int32 {
	obj = origin(obj)
	if !obj.Pos().IsValid() {
		return c.table.name("builtin#" + builtinName(obj))
	}
	if at, ok := c.place(obj.Pos()); ok {
		return c.table.target(at)
	}
	return c.table.name(c.stableName(obj))
}

// key is the target under which references of obj are listed in this view.
func (c *checker) key(obj types.Object) int32 {
	obj = origin(obj)
	if at, ok := c.place(obj.Pos()); ok && c.viewOf[at.file] == c.view.index {
		return c.table.target(at)
	}
	return c.table.name(c.view.prefix + c.stableName(obj))
}

func builtinName(obj types.Object) string {
	if fn, ok := obj.(*types.Func); ok && fn.Signature().Recv() != nil {
		return "error." + fn.Name()
	}
	return obj.Name()
}

// stableName names an object by package and owner, so that it is the same in every run and on every machine.
func (c *checker) stableName(obj types.Object) string {
	obj = origin(obj)
	pkg := obj.Pkg()
	if pkg == nil {
		return "builtin#" + builtinName(obj)
	}
	name := obj.Name()
	switch obj := obj.(type) {
	case *types.PkgName:
		name = "import " + name
	case *types.Func:
		if recv := obj.Signature().Recv(); recv != nil {
			name = typeName(recv.Type()) + "." + name
		}
	case *types.Var:
		if obj.IsField() {
			name = c.fieldName(obj)
		}
	}
	return c.cleanPath(pkg.Path()) + "#" + name
}

func typeName(t types.Type) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return named.Obj().Name()
	}
	return "interface"
}

// fieldName names a field by its owner among the package's declarations.
func (c *checker) fieldName(field *types.Var) string {
	known, ok := c.owners.Load(field.Pkg())
	if !ok {
		names := map[*types.Var]string{}
		scope := field.Pkg().Scope()
		for _, name := range scope.Names() {
			obj := scope.Lookup(name)
			t := obj.Type()
			if named, ok := t.(*types.Named); ok && named.Obj() == obj {
				t = named.Underlying()
			}
			nameFields(names, name, t, 0)
		}
		known, _ = c.owners.LoadOrStore(field.Pkg(), names)
	}
	if name, ok := known.(map[*types.Var]string)[field]; ok {
		return name
	}
	return "?." + field.Name()
}

func nameFields(names map[*types.Var]string, owner string, t types.Type, depth int) {
	if depth > 8 {
		return
	}
	switch t := t.(type) {
	case *types.Struct:
		for field := range t.Fields() {
			if _, ok := names[field]; !ok {
				names[field] = owner + "." + field.Name()
				nameFields(names, names[field], field.Type(), depth+1)
			}
		}
	case *types.Map:
		nameFields(names, owner, t.Key(), depth+1)
		nameFields(names, owner, t.Elem(), depth+1)
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				nameFields(names, owner, v.Type(), depth+1)
			}
		}
	case interface{ Elem() types.Type }:
		nameFields(names, owner, t.Elem(), depth+1)
	}
}
