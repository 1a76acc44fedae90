package main

import (
	"go/types"
	"testing"
)

func TestSymbolsAreNamedByPackageAndOwner(t *testing.T) {
	pkg := packageOf(t, `package p
type T struct { Inner struct { Deep map[string]struct{ Leaf int } } }
func (t *T) M() {}
type G[P any] struct { Value P }
type I interface { Run() }
func F() {}
`)
	c := (&engine{root: "/checkout"}).newChecker(&view{})
	member := func(owner string, path ...string) types.Object {
		obj := pkg.Scope().Lookup(owner)
		for _, name := range path {
			obj, _, _ = types.LookupFieldOrMethod(obj.Type(), true, pkg, name)
		}
		return obj
	}
	instance, err := types.Instantiate(nil, pkg.Scope().Lookup("G").Type(), []types.Type{types.Typ[types.Int]}, true)
	if err != nil {
		t.Fatal(err)
	}
	value, _, _ := types.LookupFieldOrMethod(instance, true, pkg, "Value")
	cases := map[string]types.Object{
		"m/p#F": member("F"), "m/p#T": member("T"), "m/p#T.M": member("T", "M"), "m/p#I.Run": member("I", "Run"),
		"m/p#T.Inner": member("T", "Inner"), "m/p#T.Inner.Deep": member("T", "Inner", "Deep"), "m/p#G.Value": value,
		"builtin#len": types.Universe.Lookup("len"),
	}
	for want, obj := range cases {
		if got := c.stableName(obj); got != want {
			t.Errorf("%s is named %s", want, got)
		}
	}
	failure, _, _ := types.LookupFieldOrMethod(types.Universe.Lookup("error").Type(), true, nil, "Error")
	if got := c.stableName(failure); got != "builtin#error.Error" {
		t.Errorf("error.Error is named %s", got)
	}
}

func TestPackagePathsHaveNoFolderOfTheMachine(t *testing.T) {
	c := &checker{engine: &engine{root: "/home/me/checkout"}}
	for path, want := range map[string]string{
		"fmt": "fmt", "_/home/me/checkout/a": "./a",
		"command-line-arguments/x.go": "command-line-arguments/x.go",
	} {
		if got := c.cleanPath(path); got != want {
			t.Errorf("%s is %s, not %s", path, got, want)
		}
	}
}
