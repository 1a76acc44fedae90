package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

func packageOf(t *testing.T, source string) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := new(types.Config).Check("m/p", fset, []*ast.File{tree}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

func methodsOf(pkg *types.Package, name string) *methodSet {
	return newMethodSet(pkg.Scope().Lookup(name).Type())
}

func TestMethodSetsAreComparedAcrossSeparatelyCheckedPackages(t *testing.T) {
	const shared = `package p
type Key struct{}
type Store interface { Get(k Key, names ...string) (map[string][]*Key, error); Each(func(int) chan<- bool) }
type Box[T any] interface { Put(T); Pair(T) T }
`
	ifaces := packageOf(t, shared)
	impls := packageOf(t, shared+`
type Exact struct{}
func (*Exact) Get(Key, ...string) (map[string][]*Key, error) { return nil, nil }
func (*Exact) Each(func(int) chan<- bool) {}
type Direction struct{}
func (Direction) Get(Key, ...string) (map[string][]*Key, error) { return nil, nil }
func (Direction) Each(func(int) <-chan bool) {}
type Fewer struct{}
func (Fewer) Get(Key, ...string) (map[string][]*Key, error) { return nil, nil }
type IntBox struct{}
func (IntBox) Put(int) {}
func (IntBox) Pair(int) int { return 0 }
type Mixed struct{}
func (Mixed) Put(int) {}
func (Mixed) Pair(string) int { return 0 }
`)
	cases := []struct {
		impl, iface string
		want        bool
	}{
		{"Exact", "Store", true}, {"Direction", "Store", false}, {"Fewer", "Store", false},
		{"IntBox", "Box", true}, {"Mixed", "Box", false}, {"IntBox", "Store", false},
	}
	for _, c := range cases {
		if methodsOf(impls, c.impl).implements(methodsOf(ifaces, c.iface)) != c.want {
			t.Errorf("%s implements %s: %t", c.impl, c.iface, !c.want)
		}
	}
	if methodsOf(ifaces, "Store").implements(methodsOf(impls, "Exact")) {
		t.Error("only interfaces are implemented")
	}
}

func TestATypeParameterIsBoundOnceForTheWholeSignature(t *testing.T) {
	pkg := packageOf(t, `package p
func Same[T any](a, b T) {}
func Ints(a, b int) {}
func Mixed(a int, b string) {}
type S struct { A int "tag" }
type R struct { A int }
func One(S struct{ A int "tag" }) {}
func Two(S struct{ A int }) {}
`)
	signature := func(name string) types.Type { return pkg.Scope().Lookup(name).Type() }
	if !(unifier{}).match(signature("Same"), signature("Ints")) || !(unifier{}).match(signature("Ints"), signature("Same")) {
		t.Error("two ints are of one type")
	}
	if (unifier{}).match(signature("Same"), signature("Mixed")) {
		t.Error("an int and a string are not of one type")
	}
	if (unifier{}).match(signature("One"), signature("Two")) {
		t.Error("tags are part of a struct type")
	}
}
