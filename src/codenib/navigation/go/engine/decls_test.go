package main

import (
	"go/parser"
	"go/token"
	"testing"
)

func declsOf(t *testing.T, source string) *decls {
	t.Helper()
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return newDecls(fset.File(tree.FileStart), tree)
}

func TestDeclarationsAreNamedByOwnerAndOrdinal(t *testing.T) {
	d := declsOf(t, `package p

type T struct {
	Field int
	*Embedded
}

func (t *T) Method(arg int) {}

func init() {}
func init() {}

var a, b = func(inner int) { local := 1; _ = local }, 2
`)
	want := map[string][2]int32{
		"package/p#1":             {0, 8},
		"type/T#1":                {2, 5},
		"type/T#1/Field#1":        {3, 1},
		"type/T#1/Embedded#1":     {4, 2},
		"method T/Method#1":       {7, 12},
		"method T/Method#1/arg#1": {7, 19},
		"func/init#1":             {9, 5},
		"func/init#2":             {10, 5},
		"value/a#1":               {12, 4},
		"value/b#1":               {12, 7},
		"value/b#1/inner#1":       {12, 16},
	}
	for name, place := range want {
		if d.byName[name] != place {
			t.Errorf("%s is at %v, not %v", name, d.byName[name], place)
		}
		if d.byPlace[place] != name {
			t.Errorf("%v is %q, not %s", place, d.byPlace[place], name)
		}
	}
	if len(d.byName) != len(want) {
		t.Errorf("there are %d declarations, want %d: %v", len(d.byName), len(want), d.byName)
	}
}

func TestAPlaceOfAnEarlierVersionIsConvertedOrReportedGone(t *testing.T) {
	before := declsOf(t, "package p\n\nfunc F() {}\nfunc G() {}\n")
	after := declsOf(t, "package p\n\n\n\nfunc F() {}\n")
	if now, ok := after.relocate(before, target{line: 2, col: 5}); !ok || now.line != 4 {
		t.Errorf("F is at line %d (%t), not 4", now.line, ok)
	}
	if _, ok := after.relocate(before, target{line: 3, col: 5}); ok {
		t.Error("G is gone")
	}
	if _, ok := (*decls)(nil).relocate(before, target{line: 2, col: 5}); ok {
		t.Error("a file without declarations has none of them")
	}
}
