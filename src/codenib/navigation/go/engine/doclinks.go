package main

// Links in comments, such as [Buffer.Write] or [io.Reader]: occurrences with a definition that count as no reference.

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

var docLink = regexp.MustCompile(`\[\*?([\pL_][\pL_\d]*(?:\.[\pL_][\pL_\d]*){0,2})\](?:[^:]|$)`)

func (w *walker) docLinks() {
	for _, group := range w.tree.Comments {
		for _, comment := range group.List {
			if !strings.Contains(comment.Text, "[") {
				continue
			}
			for _, match := range docLink.FindAllStringSubmatchIndex(comment.Text, -1) {
				w.docLink(comment, match[2], match[3])
			}
		}
	}
}

func (w *walker) docLink(comment *ast.Comment, from, to int) {
	parts := strings.Split(comment.Text[from:to], ".")
	at := from
	for i, part := range parts {
		if obj := w.resolveLink(parts[:i+1]); obj != nil {
			roles := int32(0)
			if obj.Name() != part {
				roles = roleInexact
			}
			w.add(comment.Pos()+token.Pos(at), len(part), roles, definedBy(w.table.list(w.definition(obj))))
		}
		at += len(part) + 1
	}
}

// resolveLink resolves the parts of a link in the file's scope: package, then name, then member.
func (w *walker) resolveLink(parts []string) types.Object {
	scope := w.pkg.Scope()
	if pkg := w.resolvePackage(parts[0]); pkg != nil {
		if len(parts) == 1 {
			return pkg
		}
		scope, parts = pkg.Imported().Scope(), parts[1:]
	}
	obj := scope.Lookup(parts[0])
	if obj == nil {
		obj = types.Universe.Lookup(parts[0])
	}
	if obj == nil || len(parts) == 1 {
		return obj
	}
	t, ok := obj.(*types.TypeName)
	if !ok || len(parts) > 2 {
		return nil
	}
	member, _, _ := types.LookupFieldOrMethod(t.Type(), true, t.Pkg(), parts[1])
	return member
}

func (w *walker) resolvePackage(name string) *types.PkgName {
	file := w.info.Scopes[w.tree]
	if file == nil {
		return nil
	}
	if pkg, ok := file.Lookup(name).(*types.PkgName); ok {
		return pkg
	}
	for _, spec := range w.tree.Imports {
		if pkg := w.info.PkgNameOf(spec); pkg != nil && pkg.Imported().Name() == name {
			return pkg
		}
	}
	return nil
}
