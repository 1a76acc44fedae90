package main

// Method sets that can be compared across separately checked packages: signatures as text, type parameters by unification.

import (
	"fmt"
	"go/types"
	"strings"
)

type method struct {
	fn      *types.Func
	text    string
	generic bool // has a type parameter or an interface literal: compared by unification
}

type methodSet struct {
	isInterface bool
	byID        map[string]*method
}

// pointerTo is *T for a named non-interface T, which has the larger method set.
func pointerTo(t types.Type) types.Type {
	if _, ok := types.Unalias(t).(*types.Named); ok && !types.IsInterface(t) {
		return types.NewPointer(t)
	}
	return t
}

func newMethodSet(t types.Type) *methodSet {
	set := &methodSet{isInterface: types.IsInterface(t), byID: map[string]*method{}}
	all := types.NewMethodSet(pointerTo(t))
	for i := range all.Len() {
		fn, ok := all.At(i).Obj().(*types.Func)
		if !ok {
			continue
		}
		var text signatureText
		text.write(fn.Signature())
		set.byID[fn.Id()] = &method{fn, text.String(), text.generic}
	}
	return set
}

// implements reports whether x has every method of the interface y.
func (x *methodSet) implements(y *methodSet) bool {
	if !y.isInterface || len(y.byID) > len(x.byID) {
		return false
	}
	for id, want := range y.byID {
		have := x.byID[id]
		if have == nil {
			return false
		}
		if !have.generic && !want.generic {
			if have.text != want.text {
				return false
			}
		} else if !(unifier{}).match(have.fn.Signature(), want.fn.Signature()) {
			return false
		}
	}
	return true
}

type signatureText struct {
	strings.Builder
	generic bool
}

func (s *signatureText) tuple(t *types.Tuple) {
	s.WriteByte('(')
	for v := range t.Variables() {
		s.write(v.Type())
		s.WriteByte(',')
	}
	s.WriteByte(')')
}

func (s *signatureText) write(t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		s.WriteString(qualified(t.Obj()))
		if args := t.TypeArgs(); args.Len() > 0 {
			s.WriteByte('[')
			for arg := range args.Types() {
				s.write(arg)
				s.WriteByte(',')
			}
			s.WriteByte(']')
		}
	case *types.Basic:
		s.WriteString(types.Typ[min(int(t.Kind()), len(types.Typ)-1)].Name())
	case *types.Pointer:
		s.WriteByte('*')
		s.write(t.Elem())
	case *types.Slice:
		s.WriteString("[]")
		s.write(t.Elem())
	case *types.Array:
		fmt.Fprintf(s, "[%d]", t.Len())
		s.write(t.Elem())
	case *types.Map:
		s.WriteString("map[")
		s.write(t.Key())
		s.WriteByte(']')
		s.write(t.Elem())
	case *types.Chan:
		fmt.Fprintf(s, "chan%d ", t.Dir())
		s.write(t.Elem())
	case *types.Signature:
		s.WriteString("func")
		s.tuple(t.Params())
		if t.Variadic() {
			s.WriteString("...")
		}
		s.tuple(t.Results())
	case *types.Struct:
		s.WriteString("struct{")
		for i := range t.NumFields() {
			fmt.Fprintf(s, "%s %t %q ", t.Field(i).Id(), t.Field(i).Embedded(), t.Tag(i))
			s.write(t.Field(i).Type())
		}
		s.WriteByte('}')
	case *types.Interface:
		if t.NumMethods() == 0 {
			s.WriteString("any")
			return
		}
		s.generic = true
		s.WriteString("interface")
	case *types.TypeParam:
		s.generic = true
		fmt.Fprintf(s, "$%d", t.Index())
	default:
		s.WriteByte('?')
	}
}

func qualified(obj *types.TypeName) string {
	if obj.Pkg() == nil {
		return obj.Name()
	}
	return obj.Pkg().Path() + "." + obj.Name()
}

// unifier matches types up to the choice of type parameters; named types are compared by name.
type unifier map[*types.TypeParam]types.Type

func (u unifier) match(x, y types.Type) bool {
	x, y = types.Unalias(x), types.Unalias(y)
	if p, ok := x.(*types.TypeParam); ok {
		return u.bind(p, y, false)
	}
	if p, ok := y.(*types.TypeParam); ok {
		return u.bind(p, x, true)
	}
	switch x := x.(type) {
	case *types.Named:
		y, ok := y.(*types.Named)
		return ok && qualified(x.Obj()) == qualified(y.Obj()) && u.matchList(x.TypeArgs(), y.TypeArgs())
	case *types.Basic:
		y, ok := y.(*types.Basic)
		return ok && x.Kind() == y.Kind()
	case *types.Pointer:
		y, ok := y.(*types.Pointer)
		return ok && u.match(x.Elem(), y.Elem())
	case *types.Slice:
		y, ok := y.(*types.Slice)
		return ok && u.match(x.Elem(), y.Elem())
	case *types.Array:
		y, ok := y.(*types.Array)
		return ok && x.Len() == y.Len() && u.match(x.Elem(), y.Elem())
	case *types.Map:
		y, ok := y.(*types.Map)
		return ok && u.match(x.Key(), y.Key()) && u.match(x.Elem(), y.Elem())
	case *types.Chan:
		y, ok := y.(*types.Chan)
		return ok && x.Dir() == y.Dir() && u.match(x.Elem(), y.Elem())
	case *types.Signature:
		y, ok := y.(*types.Signature)
		return ok && x.Variadic() == y.Variadic() && u.matchTuple(x.Params(), y.Params()) && u.matchTuple(x.Results(), y.Results())
	case *types.Interface:
		y, ok := y.(*types.Interface)
		return ok && (x.NumMethods() == 0) == (y.NumMethods() == 0)
	case *types.Struct:
		y, ok := y.(*types.Struct)
		return ok && u.matchStruct(x, y)
	}
	return false
}

func (u unifier) bind(p *types.TypeParam, t types.Type, swapped bool) bool {
	if q, ok := t.(*types.TypeParam); ok && p == q {
		return true
	}
	bound, ok := u[p]
	switch {
	case !ok:
		u[p] = t
		return true
	case bound == types.Type(p):
		return true
	case swapped:
		return u.match(t, bound)
	}
	return u.match(bound, t)
}

func (u unifier) matchList(x, y *types.TypeList) bool {
	if x.Len() != y.Len() {
		return false
	}
	for i := range x.Len() {
		if !u.match(x.At(i), y.At(i)) {
			return false
		}
	}
	return true
}

func (u unifier) matchTuple(x, y *types.Tuple) bool {
	if x.Len() != y.Len() {
		return false
	}
	for i := range x.Len() {
		if !u.match(x.At(i).Type(), y.At(i).Type()) {
			return false
		}
	}
	return true
}

func (u unifier) matchStruct(x, y *types.Struct) bool {
	if x.NumFields() != y.NumFields() {
		return false
	}
	for i := range x.NumFields() {
		if x.Field(i).Id() != y.Field(i).Id() || x.Tag(i) != y.Tag(i) || !u.match(x.Field(i).Type(), y.Field(i).Type()) {
			return false
		}
	}
	return true
}
