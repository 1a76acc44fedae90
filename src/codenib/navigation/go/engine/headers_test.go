package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func headerOfText(t *testing.T, text string) header {
	t.Helper()
	root := t.TempDir()
	write(t, root, map[string]string{"a.go": text})
	return headerOf(root, "a.go")
}

func TestOnlyWhatTheGoCommandReadsChangesAHeader(t *testing.T) {
	plain := headerOfText(t, "package p\n\nimport \"fmt\"\n\nfunc F() { fmt.Println() }\n")
	cases := []struct {
		name, text   string
		equal, plain bool
	}{
		{"another body", "package p\n\nimport \"fmt\"\n\n// F.\nfunc F() { fmt.Print(1) }\n", true, true},
		{"another import", "package p\n\nimport \"os\"\n", false, true},
		{"another package", "package q\n\nimport \"fmt\"\n", false, true},
		{"a constraint", "//go:build linux\n\npackage p\n\nimport \"fmt\"\n", false, false},
		{"an embedded file", "package p\n\nimport \"fmt\"\n\n//go:embed x.txt\nvar x string\n", false, false},
		{"cgo", "package p\n\n// int f();\nimport \"C\"\n", false, false},
	}
	for _, c := range cases {
		got := headerOfText(t, c.text)
		if got.equal(plain) != c.equal {
			t.Errorf("%s: equal is %t", c.name, !c.equal)
		}
		if got.decidesBuild() == c.plain {
			t.Errorf("%s: decidesBuild is %t", c.name, c.plain)
		}
	}
}

func TestAFileThatCannotBeReadHasAHeaderOfItsOwn(t *testing.T) {
	if gone := headerOf(t.TempDir(), "a.go"); !gone.decidesBuild() || gone.equal(headerOfText(t, "package p\n")) {
		t.Errorf("%v", gone)
	}
}

func TestImportsAreListedWithoutRelativeOnes(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"a.go": "package p\n\nimport (\n\t\"fmt\"\n\t\"./x\"\n\tm \"a/m\"\n)\n"})
	if got := importsOf(filepath.Join(root, "a.go")); !slices.Equal(got, []string{"fmt", "a/m"}) {
		t.Errorf("%v", got)
	}
}

func TestAScriptIsAMainPackageWithTheTagIgnore(t *testing.T) {
	cases := map[string]bool{
		"//go:build ignore\n\npackage main\n":  true,
		"// +build ignore\n\npackage main\n":   true,
		"//go:build ignore\n\npackage p\n":     false,
		"//go:build !ignore\n\npackage main\n": false,
		"package main\n\n//go:build ignore\n":  false,
	}
	for text, want := range cases {
		path := filepath.Join(t.TempDir(), "a.go")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if isIgnored(path) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}
