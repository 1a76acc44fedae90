package main

import (
	"slices"
	"testing"
)

func TestEveryModuleIsAViewAndOtherPlatformsAreViewsOfTheirOwn(t *testing.T) {
	root := t.TempDir()
	other := "windows"
	if defaultPlatform.os == other {
		other = "linux"
	}
	write(t, root, map[string]string{
		"go.mod":                "module m\n",
		"a.go":                  "package m\n",
		"a_" + other + ".go":    "package m\n",
		"testdata/data.go":      "package data\n",
		"nested/go.mod":         "module m/nested\n",
		"nested/n.go":           "package nested\n",
		"nested/deep/custom.go": "//go:build special\n\npackage deep\n\nimport \"fmt\"\n",
	})
	files := []string{"a.go", "a_" + other + ".go", "testdata/data.go", "nested/n.go", "nested/deep/custom.go"}
	views, of := divide(root, files)
	if !slices.Equal(of, []int{0, 2, 0, 1, 3}) {
		t.Fatalf("views of the files: %v", of)
	}
	if views[0].prefix != "" || views[1].prefix != "view nested: " {
		t.Errorf("prefixes %q, %q", views[0].prefix, views[1].prefix)
	}
	if views[2].base != 0 || views[2].platform.os != other || views[0].base != -1 {
		t.Errorf("the view of another platform is %+v", views[2])
	}
	if !slices.Contains(views[0].patterns, root+"/testdata") {
		t.Errorf("a hidden folder is not loaded: %v", views[0].patterns)
	}
	if tagged := views[3]; tagged.base != 1 || tagged.platform.tags != "special" || !slices.Contains(tagged.patterns, "fmt") {
		t.Errorf("the view of a file's own tags is %+v", tagged)
	}
}

func TestModulesOfAWorkspaceShareAView(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"go.work":  "go 1.24\n\nuse (\n\t./a\n\t./b\n)\n",
		"a/go.mod": "module a\n", "a/a.go": "package a\n",
		"b/go.mod": "module b\n", "b/b.go": "package b\n",
		"c/go.mod": "module c\n", "c/c.go": "package c\n",
	})
	views, of := divide(root, []string{"a/a.go", "b/b.go", "c/c.go"})
	if of[0] != of[1] || of[0] == of[2] {
		t.Fatalf("views of the files: %v", of)
	}
	if !slices.Contains(views[of[2]].env, "GOWORK=off") {
		t.Errorf("a module outside of the workspace is loaded with %v", views[of[2]].env)
	}
}

func TestFoldersThatPatternsSkipAreHidden(t *testing.T) {
	for dir, want := range map[string]bool{
		"/a/testdata": true, "/_x/b": true, "/.x": true, "/a/b": false, "/vendor/testdata": false, "": false,
	} {
		if isHidden(dir) != want {
			t.Errorf("%q: %t", dir, !want)
		}
	}
}
