package main

// A type-checked package in, its surface out: a text for each name that other packages can depend on. While the surface is
// the same, the facts of other packages are.

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"
)

// surfaceOf describes the declarations of a package, also unexported ones, which appear in method sets and fields. An entry
// whose change affects everybody, not only those who mention its last name, begins with a star; one that only the package
// itself sees with a minus.
func surfaceOf(pkg *types.Package) map[string]string {
	out := map[string]string{}
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		switch obj := scope.Lookup(name).(type) {
		case *types.Const:
			out[visible(name)] = "const " + typeText(obj.Type()) + " " + obj.Val().ExactString()
		case *types.TypeName:
			typeSurface(out, name, obj)
		default:
			out[visible(name)] = typeText(obj.Type())
		}
	}
	return out
}

// visible is the entry of a constant, variable or function.
func visible(name string) string {
	if token.IsExported(name) {
		return name
	}
	return "-" + name
}

func typeText(t types.Type) string { return types.TypeString(t, (*types.Package).Path) }

func typeSurface(out map[string]string, name string, obj *types.TypeName) {
	named, ok := obj.Type().(*types.Named)
	if obj.IsAlias() || !ok {
		out[name] = "type"
		out["*"+name] = types.ObjectString(obj, (*types.Package).Path)
		return
	}
	var params strings.Builder
	for param := range named.TypeParams().TypeParams() {
		fmt.Fprintf(&params, "%s %s,", param.Obj().Name(), typeText(param.Constraint()))
	}
	out[name] = "type"
	whole := ""
	switch t := named.Underlying().(type) {
	case *types.Struct:
		whole = "struct"
		for i := range t.NumFields() {
			field := t.Field(i)
			if field.Embedded() {
				whole += " " + typeText(field.Type())
			}
			out[name+"."+field.Name()] += fmt.Sprintf("field %s %q;", typeText(field.Type()), t.Tag(i))
		}
	case *types.Interface:
		whole = "interface"
		for embedded := range t.EmbeddedTypes() {
			whole += " " + typeText(embedded)
		}
		for fn := range t.ExplicitMethods() {
			out[name+"."+fn.Name()] += "method " + typeText(fn.Type()) + ";"
		}
	default:
		whole = typeText(t)
	}
	out["*"+name] = params.String() + whole
	for fn := range named.Methods() {
		_, pointer := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer)
		out[name+"."+fn.Name()] += fmt.Sprintf("method %t %s;", pointer, typeText(fn.Type()))
	}
}

// Who looks at a surface: the files of the package, or its importers.
const inner, outer = true, false

// changedNames lists the last names of the entries that differ; wide when everybody is affected.
func changedNames(before, after map[string]string, within bool) (names map[string]bool, wide bool) {
	names = map[string]bool{}
	add := func(entry string) {
		name := entry[strings.LastIndexByte(entry, '.')+1:]
		if rest, ok := strings.CutPrefix(name, "*"); ok {
			name = rest
			_, was := before[entry]
			_, is := after[entry]
			wide = wide || was && is
		} else if rest, ok := strings.CutPrefix(name, "-"); ok {
			if name = rest; !within {
				return
			}
		}
		names[name] = true
	}
	for entry, text := range before {
		if other, ok := after[entry]; !ok || other != text {
			add(entry)
		}
	}
	for entry := range after {
		if _, ok := before[entry]; !ok {
			add(entry)
		}
	}
	return names, wide
}
