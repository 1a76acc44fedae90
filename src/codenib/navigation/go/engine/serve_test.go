package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var project = map[string]string{
	"go.mod": "module m\n\ngo 1.24\n",
	"a/a.go": "package a\n\n// T is a type.\ntype T struct{ Field int }\n\nfunc (t T) Run() int { return t.Field }\n",
	"b/b.go": "package b\n\nimport \"m/a\"\n\ntype Runner interface{ Run() int }\n\nvar R Runner = a.T{Field: 1}\n",
	"c/c.go": "package c\n\nfunc Alone() {}\n",
}

// linesOf asks a server for its lines, by path.
func linesOf(t *testing.T, s *server) map[string]string {
	t.Helper()
	var out bytes.Buffer
	writer := bufio.NewWriter(&out)
	s.lines(writer)
	if err := writer.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if rest, ok := strings.CutPrefix(line, `{"path":"`); ok {
			path, _, _ := strings.Cut(rest, `"`)
			lines[path] = line
		}
	}
	return lines
}

type factLine struct {
	Path        string
	Nodes       [][]any
	Targets     []any
	Occurrences []int
	Lists       [][]int
	Relations   [][]any
}

// named replaces the places of targets by the names that they have in `all`, and sorts them: a line whose targets only moved is
// not sent.
func named(t *testing.T, lines, all map[string]string) map[string]string {
	t.Helper()
	names := map[string]string{}
	decode := func(text string) (line factLine) {
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		return line
	}
	for path, text := range all {
		for _, node := range decode(text).Nodes {
			names[fmt.Sprint([]any{path, node[7], node[8]})] = fmt.Sprint(path, " ", node[0], " ", node[1])
		}
	}
	out := map[string]string{}
	for path, text := range lines {
		line := decode(text)
		for i, target := range line.Targets {
			if name, ok := names[fmt.Sprint(target)]; ok {
				line.Targets[i] = name
			}
		}
		out[path] = fmt.Sprint(renumbered(line))
	}
	return out
}

// renumbered is a line with its targets sorted.
func renumbered(line factLine) factLine {
	order := make([]int, len(line.Targets))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return strings.Compare(fmt.Sprint(line.Targets[a]), fmt.Sprint(line.Targets[b]))
	})
	targets, at := make([]any, len(order)), make([]int, len(order))
	for i, old := range order {
		targets[i], at[old] = line.Targets[old], i
	}
	line.Targets = targets
	for _, items := range line.Lists {
		for i, item := range items {
			items[i] = at[item]
		}
		slices.Sort(items)
	}
	for _, relation := range line.Relations {
		relation[1], relation[2] = at[int(relation[1].(float64))], at[int(relation[2].(float64))]
	}
	slices.SortFunc(line.Relations, func(a, b []any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return line
}

func TestAfterAnEditTheLinesEqualThoseOfANewEngine(t *testing.T) {
	edits := []struct {
		name, file, text string
		differ           []string
	}{
		{"nothing", "", "", nil},
		{"a body", "c/c.go", "package c\n\nfunc Alone() { println() }\n", []string{"c/c.go"}},
		{"a line more above", "a/a.go", "package a\n\n// More.\n\n// T is a type.\ntype T struct{ Field int }\n\n" +
			"func (t T) Run() int { return t.Field }\n", []string{"a/a.go"}},
		{"a new file", "c/d.go", "package c\n\nfunc More() { Alone() }\n", []string{"c/d.go"}},
		{"a new import", "c/d.go", "package c\n\nimport \"m/a\"\n\nvar X a.T\n", []string{"c/d.go"}},
		{"a renamed field", "a/a.go", "package a\n\ntype T struct{ Other int }\n\nfunc (t T) Run() int { return t.Other }\n",
			[]string{"a/a.go", "b/b.go"}},
		{"a removed file", "c/d.go", "", nil},
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, project)
	s := &server{root: root, changed: map[string]bool{}, files: []string{"a/a.go", "b/b.go", "c/c.go"}}
	current := linesOf(t, s)
	current = named(t, current, current)
	for _, edit := range edits {
		if edit.file != "" {
			s.changed[edit.file] = true
			if s.files = slices.DeleteFunc(s.files, func(f string) bool { return f == edit.file }); edit.text == "" {
				delete(current, edit.file)
				if err := os.Remove(filepath.Join(root, edit.file)); err != nil {
					t.Fatal(err)
				}
			} else {
				s.files = append(s.files, edit.file)
				write(t, root, map[string]string{edit.file: edit.text})
			}
		}
		sent := linesOf(t, s)
		fresh := linesOf(t, &server{root: root, changed: map[string]bool{}, files: s.files})
		maps.Copy(current, named(t, sent, fresh))
		for path, line := range named(t, fresh, fresh) {
			if current[path] != line {
				t.Errorf("%s: the line of %s is\n%s, a new engine's is\n%s", edit.name, path, current[path], line)
			}
		}
		if len(current) != len(fresh) {
			t.Errorf("%s: %d lines, a new engine has %d", edit.name, len(current), len(fresh))
		}
		for path := range sent {
			if !slices.Contains(edit.differ, path) {
				t.Errorf("%s: sent the line of %s", edit.name, path)
			}
		}
	}
}
