package main

// The declarations of a file that other files can name. An edit moves them; targets that point to them keep their numbers.

import (
	"fmt"
	"go/ast"
	"go/token"
)

// decls maps the places of a file's declarations to names that do not depend on lines, and back.
type decls struct {
	byPlace map[[2]int32]string
	byName  map[string][2]int32
}

func newDecls(file *token.File, tree *ast.File) *decls {
	d := &decls{byPlace: map[[2]int32]string{}, byName: map[string][2]int32{}}
	times := map[string]int{}
	note := func(id *ast.Ident, owner string) string {
		if id == nil || !id.Pos().IsValid() {
			return owner
		}
		name := owner + "/" + id.Name
		times[name]++
		name = fmt.Sprintf("%s#%d", name, times[name])
		p := file.PositionFor(id.Pos(), false)
		at := [2]int32{int32(p.Line - 1), int32(p.Column - 1)}
		d.byPlace[at], d.byName[name] = name, at
		return name
	}
	note(tree.Name, "package")
	for _, decl := range tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			owner := "func"
			if decl.Recv != nil && len(decl.Recv.List) == 1 {
				owner = "method"
				if id := receiver(decl.Recv.List[0].Type); id != nil {
					owner = "method " + id.Name
				}
			}
			noteFields(decl.Type, note(decl.Name, owner), note)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					noteFields(spec.Type, note(spec.Name, "type"), note)
				case *ast.ValueSpec:
					owner := ""
					for _, id := range spec.Names {
						owner = note(id, "value")
					}
					if spec.Type != nil {
						noteFields(spec.Type, owner, note)
					}
					for _, value := range spec.Values {
						noteFields(value, owner, note)
					}
				}
			}
		}
	}
	return d
}

// noteFields names the fields and methods of the types inside a declaration, except in function bodies.
func noteFields(n ast.Node, owner string, note func(*ast.Ident, string) string) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return false
		case *ast.Field:
			for _, id := range n.Names {
				note(id, owner)
			}
			if len(n.Names) == 0 {
				note(receiver(n.Type), owner)
			}
		}
		return true
	})
}

// receiver is the name of a type without pointers, type arguments and package.
func receiver(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return callee(e)
		}
	}
}

// relocate returns the current place of a declaration; `before` are the declarations of an earlier version of the file.
func (d *decls) relocate(before *decls, at target) (target, bool) {
	if d == nil {
		return at, false
	}
	name, known := before.byPlace[[2]int32{at.line, at.col}]
	now, ok := d.byName[name]
	if known && ok {
		at.line, at.col = now[0], now[1]
	}
	return at, known && ok
}
