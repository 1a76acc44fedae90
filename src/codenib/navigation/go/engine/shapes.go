package main

// What the go command reads of a file: package, imports, build constraints. Where these are as they were, so is the build.

import (
	"bytes"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

type shape struct {
	name    string   // of the package
	head    string   // all but the imports
	imports []string // sorted
}

func (s shape) equal(other shape) bool {
	return s.head == other.head && slices.Equal(s.imports, other.imports)
}

// special reports whether more than the package's name and the imports counts.
func (s shape) special() bool { return s.head != s.name || slices.Contains(s.imports, "C") }

func shapeOf(root, file string) shape {
	path := filepath.Join(root, filepath.FromSlash(file))
	data, err := os.ReadFile(path)
	if err != nil {
		return shape{head: "unreadable"}
	}
	tree, _ := parser.ParseFile(token.NewFileSet(), path, data, parser.ImportsOnly|parser.ParseComments)
	if tree == nil || tree.Name == nil {
		return shape{head: "unparsable"}
	}
	s := shape{name: tree.Name.Name}
	for _, spec := range tree.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
			s.imports = append(s.imports, imported)
		}
	}
	slices.Sort(s.imports)
	s.imports = slices.Compact(s.imports)
	parts := []string{s.name}
	for _, group := range tree.Comments {
		for _, comment := range group.List {
			built := constraint.IsGoBuild(comment.Text) || constraint.IsPlusBuild(comment.Text)
			if built || slices.Contains(s.imports, "C") {
				parts = append(parts, comment.Text)
			}
		}
	}
	for _, line := range bytes.Split(data, []byte("\n")) {
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("//go:embed")) {
			parts = append(parts, string(line))
		}
	}
	s.head = strings.Join(parts, "\n")
	return s
}
