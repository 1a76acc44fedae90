package main

import (
	"maps"
	"slices"
	"testing"
)

func TestTheSurfaceNamesWhatImportersMustCheckAgain(t *testing.T) {
	const before = `package p
const Size = 1
type T struct { A int; hidden string }
func (t *T) M(x int) {}
type I interface { Run() }
type Alias = T
func F(a int) { _ = a }
`
	cases := []struct {
		name, after string
		names       []string
		wide        bool
	}{
		{"a body", "package p\nconst Size = 1\ntype T struct { A int; hidden string }\nfunc (t *T) M(x int) {}\n" +
			"type I interface { Run() }\ntype Alias = T\nfunc F(a int) { panic(a) }\n", nil, false},
		{"a constant", "package p\nconst Size = 2\ntype T struct { A int; hidden string }\nfunc (t *T) M(x int) {}\n" +
			"type I interface { Run() }\ntype Alias = T\nfunc F(a int) { _ = a }\n", []string{"Size"}, false},
		{"a field and a receiver", "package p\nconst Size = 1\ntype T struct { A int; hidden int }\nfunc (t T) M(x int) {}\n" +
			"type I interface { Run() }\ntype Alias = T\nfunc F(a int) { _ = a }\n", []string{"M", "hidden"}, false},
		{"what an alias stands for", "package p\nconst Size = 1\ntype T struct { A int; hidden string }\n" +
			"func (t *T) M(x int) {}\ntype I interface { Run() }\ntype Alias = I\nfunc F(a int) { _ = a }\n", []string{"Alias"}, true},
		{"a function that is gone", "package p\nconst Size = 1\ntype T struct { A int; hidden string }\n" +
			"func (t *T) M(x int) {}\ntype I interface { Run() }\ntype Alias = T\n", []string{"F"}, false},
	}
	for _, c := range cases {
		names, wide := changedNames(surfaceOf(packageOf(t, before)), surfaceOf(packageOf(t, c.after)), outer)
		if !slices.Equal(slices.Sorted(maps.Keys(names)), c.names) || wide != c.wide {
			t.Errorf("%s: %v, %t", c.name, names, wide)
		}
	}
}
