package main

// The part of a file that the go command reads: a file in, package name, imports and build constraints out. While headers are
// equal, the packages of the build are the same.

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

type header struct {
	packageName string
	constraints string   // package name, build constraints, cgo comments and embed lines
	imports     []string // sorted
}

func (s header) equal(other header) bool {
	return s.constraints == other.constraints && slices.Equal(s.imports, other.imports)
}

// decidesBuild reports whether the header has more than a package name and plain imports.
func (s header) decidesBuild() bool {
	return s.constraints != s.packageName || slices.Contains(s.imports, "C")
}

func headerOf(root, file string) header {
	path := filepath.Join(root, filepath.FromSlash(file))
	data, err := os.ReadFile(path)
	if err != nil {
		return header{constraints: "unreadable"}
	}
	tree, _ := parser.ParseFile(token.NewFileSet(), path, data, parser.ImportsOnly|parser.ParseComments)
	if tree == nil || tree.Name == nil {
		return header{constraints: "unparsable"}
	}
	s := header{packageName: tree.Name.Name}
	for _, spec := range tree.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
			s.imports = append(s.imports, imported)
		}
	}
	slices.Sort(s.imports)
	s.imports = slices.Compact(s.imports)
	parts := []string{s.packageName}
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
	s.constraints = strings.Join(parts, "\n")
	return s
}

// importsOf lists the packages that a file imports, relative ones left out.
func importsOf(path string) []string {
	tree, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if tree == nil {
		return nil
	}
	var out []string
	for _, spec := range tree.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil && imported != "" && !strings.HasPrefix(imported, ".") {
			out = append(out, imported)
		}
	}
	return out
}

// packageName is the name in a file's package clause, or "_".
func packageName(path string) string {
	tree, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly)
	if tree == nil || tree.Name == nil {
		return "_"
	}
	return tree.Name.Name
}

// isIgnored reports whether the file is a program of its own, marked by the build tag "ignore".
func isIgnored(path string) bool {
	return packageName(path) == "main" && slices.ContainsFunc(constraintsOf(path), func(expr constraint.Expr) bool {
		tag, ok := expr.(*constraint.TagExpr)
		return ok && tag.Tag == "ignore"
	})
}

// constraintsOf returns the build constraints above the package clause of a file.
func constraintsOf(path string) []constraint.Expr {
	tree, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
	if tree == nil || tree.Name == nil {
		return nil
	}
	var out []constraint.Expr
	for _, group := range tree.Comments {
		for _, comment := range group.List {
			if comment.Pos() > tree.Name.Pos() || !constraint.IsGoBuild(comment.Text) && !constraint.IsPlusBuild(comment.Text) {
				continue
			}
			if expr, err := constraint.Parse(comment.Text); err == nil {
				out = append(out, expr)
			}
		}
	}
	return out
}
