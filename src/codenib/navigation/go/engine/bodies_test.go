package main

import (
	"maps"
	"path/filepath"
	"testing"
)

// One package of three files, one of them a test: `use.go` stays as it is.
var package3 = map[string]string{
	"go.mod":    "module m\n\ngo 1.24\n",
	"type.go":   "// Package m is documented here.\npackage m\n\ntype T struct{ n int }\n\nfunc (t T) run() int { return t.n }\n\nfunc help() int { return 1 }\n",
	"use.go":    "package m\n\nvar All = T{n: help()}.run()\n\nfunc Use() int { return All + T{}.run() }\n",
	"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestUse(t *testing.T) { t.Log(Use(), help()) }\n",
}

func TestOtherFilesOfAPackageKeepTheirFactsWhileItDeclaresTheSame(t *testing.T) {
	edits := []struct {
		name, text string
		stays      bool
	}{
		{"a body", "// Package m is documented here.\npackage m\n\ntype T struct{ n int }\n\nfunc (t T) run() int { return help() + t.n }\n\n" +
			"func help() int { return 1 }\n", true},
		{"a line above and a type within", "// Package m is documented here.\n\n// More.\npackage m\n\ntype T struct{ n int }\n\n" +
			"func (t T) run() int {\n\ttype in struct{ T }\n\treturn in{t}.run()\n}\n\nfunc help() int { return 2 }\n", true},
		{"a result", "// Package m is documented here.\npackage m\n\ntype T struct{ n int64 }\n\nfunc (t T) run() int64 { return t.n }\n\n" +
			"func help() int64 { return 1 }\n", false},
		{"a declaration more", "// Package m is documented here.\npackage m\n\ntype T struct{ n int64 }\n\nfunc (t T) run() int64 { return t.n }\n\n" +
			"func help() int64 { return more }\n\nconst more = 1\n", false},
		{"the documentation", "package m\n\ntype T struct{ n int64 }\n\nfunc (t T) run() int64 { return t.n }\n\nfunc help() int64 { return more }\n\n" +
			"const more = 1\n", false},
		{"a body again", "package m\n\ntype T struct{ n int64 }\n\nfunc (t T) run() int64 { return help() }\n\nfunc help() int64 { return more }\n\n" +
			"const more = 1\n", true},
		{"a syntax error", "package m\n\ntype T struct{ n int64 }\n\nfunc (t T) run() int64 { return help( }\n", false},
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, package3)
	files := []string{"m_test.go", "type.go", "use.go"}
	s := &server{root: root, changed: map[string]bool{}, files: files}
	current := linesOf(t, s)
	current = named(t, current, current)
	for _, edit := range edits {
		before := factsOfFile(s.engine, "use.go")
		s.changed["type.go"] = true
		write(t, root, map[string]string{"type.go": edit.text})
		sent := linesOf(t, s)
		fresh := linesOf(t, &server{root: root, changed: map[string]bool{}, files: files})
		maps.Copy(current, named(t, sent, fresh))
		for path, line := range named(t, fresh, fresh) {
			if current[path] != line {
				t.Errorf("%s: the line of %s is\n%s, a new engine's is\n%s", edit.name, path, current[path], line)
			}
		}
		if stays := maps.Equal(before, factsOfFile(s.engine, "use.go")); stays != edit.stays {
			t.Errorf("%s: that use.go was not recorded again is %t", edit.name, stays)
		}
	}
}

// factsOfFile are the numbers of a file's facts.
func factsOfFile(e *engine, file string) map[int64]bool {
	out := map[int64]bool{}
	for _, facts := range e.fileFacts[e.fileIndex[e.absolute(file)]] {
		out[facts.number] = true
	}
	return out
}
