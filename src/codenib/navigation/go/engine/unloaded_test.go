package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// factsOf runs an engine over files and returns the line of each.
func factsOf(t *testing.T, root string, files []string) map[string]map[string]any {
	t.Helper()
	e := newEngine(root, files, false)
	e.loadAll()
	e.gatherFacts()
	out := map[string]map[string]any{}
	e.emitAll(func(file int32, line []byte) {
		var facts map[string]any
		if err := json.Unmarshal(bytes.TrimSpace(line), &facts); err != nil {
			t.Fatal(err)
		}
		out[e.files[file]] = facts
	})
	return out
}

func mentions(facts map[string]any, target ...any) bool {
	want, _ := json.Marshal(target)
	return slices.ContainsFunc(facts["targets"].([]any), func(each any) bool {
		text, _ := json.Marshal(each)
		return bytes.Equal(text, want)
	})
}

func TestPackagesThatTheGoCommandCannotLoadKnowEachOther(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{
		"go.mod":      "module m\n\ngo 1.999\n",
		"a/a.go":      "package a\n\nimport \"m/b\"\n\nfunc A() { b.B() }\n",
		"a/a_test.go": "package a\n\nimport \"m/c\"\n\nfunc test() { A(); c.C() }\n",
		"b/b.go":      "package b\n\nfunc B() {}\n",
		"c/c.go":      "package c\n\nimport \"m/a\"\n\nfunc C() { a.A() }\n",
	}
	write(t, root, files)
	lines := factsOf(t, root, []string{"a/a.go", "a/a_test.go", "b/b.go", "c/c.go"})
	for _, each := range []struct {
		file   string
		target []any
	}{
		{"a/a.go", []any{"b/b.go", 2, 5}}, {"a/a_test.go", []any{"a/a.go", 4, 5}}, {"c/c.go", []any{"a/a.go", 4, 5}},
		{"a/a_test.go", []any{"c/c.go", 4, 5}},
	} {
		if !mentions(lines[each.file], each.target...) {
			t.Errorf("%s does not lead to %v: %v", each.file, each.target, lines[each.file]["targets"])
		}
		if lines[each.file]["scope"] != scopeLoose {
			t.Errorf("the scope of %s is %v", each.file, lines[each.file]["scope"])
		}
	}
}

func TestFilesBehindTheirOwnTagsAreReadAndSaidToBe(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"go.mod":          "module m\n\ngo 1.22\n",
		"a.go":            "package m\n\nfunc Shared() {}\n",
		"fast.go":         "//go:build fast\n\npackage m\n\nfunc Fast() { Shared(); more() }\n",
		"more.go":         "//go:build fast\n\npackage m\n\nfunc more() {}\n",
		"never.go":        "//go:build a && !a\n\npackage m\n\nfunc never() { never() }\n",
		"testdata/p/p.go": "package p\n\nimport \"m\"\n\nfunc P() { m.Shared() }\n",
	})
	lines := factsOf(t, root, []string{"a.go", "fast.go", "more.go", "never.go", "testdata/p/p.go"})
	if !mentions(lines["fast.go"], "a.go", 2, 5) || !mentions(lines["fast.go"], "more.go", 4, 5) {
		t.Errorf("a file behind a tag leads to %v", lines["fast.go"]["targets"])
	}
	if !mentions(lines["testdata/p/p.go"], "a.go", 2, 5) || !mentions(lines["never.go"], "never.go", 4, 5) {
		t.Errorf("loose files lead to %v, %v", lines["testdata/p/p.go"]["targets"], lines["never.go"]["targets"])
	}
	for file, want := range map[string]string{"a.go": scopeProject, "fast.go": scopeVariant, "more.go": scopeVariant,
		"never.go": scopeLoose, "testdata/p/p.go": scopeLoose} {
		if lines[file]["scope"] != want {
			t.Errorf("the scope of %s is %v", file, lines[file]["scope"])
		}
	}
}
