package main

import (
	"slices"
	"testing"
)

func TestAnInternalPackageIsImportedFromBelowItsParentOnly(t *testing.T) {
	cases := []struct {
		from, path string
		want       bool
	}{
		{"m/a", "m/internal/x", true}, {"m", "m/internal/x", true}, {"m_test", "m/internal", true},
		{"other/a", "m/internal/x", false}, {"m/a", "m/a/internal/b/internal/c", false},
		{"m/a/internal/b", "m/a/internal/b/internal/c", true}, {"mm/a", "m/internal/x", false},
	}
	for _, c := range cases {
		if mayImportInternal(c.from, c.path) != c.want {
			t.Errorf("%s imports %s: %t", c.from, c.path, !c.want)
		}
	}
}

func TestUnitsAreSortedDependenciesFirst(t *testing.T) {
	a, b, c := &unit{}, &unit{}, &unit{}
	a.imports = map[string]*unit{"b": b, "c": c}
	b.imports = map[string]*unit{"c": c}
	if got := dependenciesFirst([]*unit{a, b, c}); !slices.Equal(got, []*unit{c, b, a}) {
		t.Errorf("%p %p %p in %v", a, b, c, got)
	}
}
