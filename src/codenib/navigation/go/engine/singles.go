package main

// What a file that no build includes says of itself.

import (
	"go/build/constraint"
	"go/parser"
	"go/token"
)

func packageName(path string) string {
	tree, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly)
	if tree == nil || tree.Name == nil {
		return "_"
	}
	return tree.Name.Name
}

// ignored reports whether the file is a program of its own, marked by the tag "ignore".
func ignored(path string) bool {
	tree, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
	if tree == nil || tree.Name == nil || tree.Name.Name != "main" {
		return false
	}
	for _, group := range tree.Comments {
		for _, comment := range group.List {
			if comment.Pos() > tree.Name.Pos() || !constraint.IsGoBuild(comment.Text) && !constraint.IsPlusBuild(comment.Text) {
				continue
			}
			if expr, err := constraint.Parse(comment.Text); err == nil {
				if tag, ok := expr.(*constraint.TagExpr); ok && tag.Tag == "ignore" {
					return true
				}
			}
		}
	}
	return false
}
