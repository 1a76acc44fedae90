package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// One package of three files, one of them a test: `use.go` stays as it is.
var package3 = map[string]string{
	"go.mod":    "module m\n\ngo 1.24\n",
	"type.go":   "// Package m is documented here.\npackage m\n\ntype T struct{ n int }\n\nfunc (t T) run() int { return t.n }\n\nfunc help() int { return 1 }\n",
	"use.go":    "package m\n\nvar All = T{n: help()}.run()\n\nfunc Use() int { return All + T{}.run() }\n",
	"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestUse(t *testing.T) { t.Log(Use(), help()) }\n",
}

func TestOtherFilesOfAPackageKeepTheirFactsWhereTheyMentionNoChangedName(t *testing.T) {
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
			"func help() int64 { return more }\n\nconst more = 1\n", true},
		{"the documentation", "package m\n\ntype T struct{ n int64 }\n\nfunc (t T) run() int64 { return t.n }\n\nfunc help() int64 { return more }\n\n" +
			"const more = 1\n", false},
		{"a body again", "package m\n\ntype T struct{ n int64 }\n\nfunc (t T) run() int64 { return help() }\n\nfunc help() int64 { return more }\n\n" +
			"const more = 1\n", true},
		{"a syntax error", "package m\n\ntype T struct{ n int64 }\n\nfunc (t T) run() int64 { return help( }\n", false},
	}
	f := follow(t, package3)
	for _, edit := range edits {
		before := factsOfFile(f.server.engine, "use.go")
		f.edit(edit.name, "type.go", edit.text)
		if stays := maps.Equal(before, factsOfFile(f.server.engine, "use.go")); stays != edit.stays {
			t.Errorf("%s: that use.go was not recorded again is %t", edit.name, stays)
		}
	}
}

func TestFilesThatMentionNoChangedNameFollowWhatReachesThem(t *testing.T) {
	const plain = "package m\n\ntype V struct{ inner }\n\nfunc (V) Run() {}\n\nfunc (V) Size() int { return 1 }\n\ntype inner struct{ Deep int }\n"
	f := follow(t, map[string]string{
		"go.mod":  "module m\n\ngo 1.24\n",
		"type.go": plain,
		"runner.go": "package m\n\ntype Runner interface {\n\tRun()\n\tSize() int\n}\n\n" +
			"func Same[T Runner](v T) *T { return &v }\n\nfunc Get() V { return V{} }\n",
		"convert.go":   "package m\n\nfunc convert() int { return Runner(Get()).Size() }\n",
		"infer.go":     "package m\n\nfunc infer() int { return Same(Get()).Deep }\n",
		"m_test.go":    "package m\n\nfunc use() int { return convert() + Get().Deep }\n",
		"sub/sub.go":   "package sub\n\nimport \"m\"\n\nfunc Sub() int { return m.Get().Size() + m.Same(m.Get()).Size() }\n",
		"base/base.go": "package base\n\nfunc Get() int { return 1 }\n",
	})
	f.edit("a method that an interface asks for goes", "type.go", strings.ReplaceAll(plain, "func (V) Run() {}\n\n", ""))
	f.edit("it comes back, and what is embedded is another", "type.go", strings.ReplaceAll(plain, "struct{ inner }", "struct{ other }")+
		"\ntype other struct{ Deep string }\n")
	f.edit("a file with a method more and an import", "more.go", "package m\n\nimport \"m/base\"\n\nfunc (V) More() int { return base.Get() }\n")
	f.edit("an import more", "convert.go", "package m\n\nimport \"m/base\"\n\nfunc convert() int { return base.Get() + Get().More() }\n")
	f.edit("a helper that is not exported", "infer.go", "package m\n\nfunc infer() int { return Same(Get()).Size() + helper }\n\nconst helper = 1\n")
	f.edit("another package of that name", "sub/sub.go", "package sub\n\nimport m \"m/base\"\n\nfunc Sub() int { return m.Get() }\n")
	f.edit("a test more", "m_test.go", "package m\n\nfunc use() int { return convert() }\n\nfunc more() int { return helper }\n")
	f.edit("a file goes", "more.go", "")
}

// A follower edits files and compares the lines of a server with those of a new one.
type follower struct {
	t       *testing.T
	server  *server
	current map[string]string
}

func follow(t *testing.T, project map[string]string) *follower {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, project)
	f := &follower{t: t, server: &server{root: root, changed: map[string]bool{}, files: slices.Sorted(maps.Keys(project))}}
	lines := linesOf(t, f.server)
	f.current = named(t, lines, lines)
	return f
}

// edit writes a file, or removes it where the text is empty; afterwards the lines equal those of a new engine.
func (f *follower) edit(name, file, text string) {
	f.t.Helper()
	s := f.server
	s.changed[file] = true
	s.files = slices.DeleteFunc(s.files, func(other string) bool { return other == file })
	if text == "" {
		delete(f.current, file)
		if err := os.Remove(filepath.Join(s.root, file)); err != nil {
			f.t.Fatal(err)
		}
	} else {
		s.files = append(s.files, file)
		write(f.t, s.root, map[string]string{file: text})
	}
	sent := linesOf(f.t, s)
	fresh := linesOf(f.t, &server{root: s.root, changed: map[string]bool{}, files: s.files})
	maps.Copy(f.current, named(f.t, sent, fresh))
	for path, line := range named(f.t, fresh, fresh) {
		if f.current[path] != line {
			f.t.Errorf("%s: the line of %s is\n%s, a new engine's is\n%s", name, path, f.current[path], line)
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
