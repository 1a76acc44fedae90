package main

// Files of the repository in, their syntax trees out: whole ones while they are checked, declarations for as long as the file
// stays as it is.

import (
	"go/ast"
	"go/parser"
	"sync"
)

// A source is a parsed file of the repository, shared by the views and by the variants of its package.
type source struct {
	once sync.Once
	uses int
	ast  *ast.File
}

// retain announces a use of a file; without one, its syntax tree is not shared.
func (e *engine) retain(file string) {
	if _, ok := e.fileIndex[file]; !ok {
		return
	}
	e.sourceLock.Lock()
	defer e.sourceLock.Unlock()
	if e.sources[file] == nil {
		e.sources[file] = &source{}
	}
	e.sources[file].uses++
}

func (e *engine) release(file string) {
	e.sourceLock.Lock()
	defer e.sourceLock.Unlock()
	if s := e.sources[file]; s != nil {
		if s.uses--; s.uses == 0 {
			delete(e.sources, file)
		}
	}
}

// forget drops what is known of the text of a file.
func (e *engine) forget(file string) {
	delete(e.sources, file)
	delete(e.skeletons, file)
	delete(e.words, file)
}

// parse is the syntax tree of a file, with comments where it is the repository's.
func (e *engine) parse(file string) *ast.File {
	mode := parser.AllErrors | parser.SkipObjectResolution
	e.sourceLock.Lock()
	s := e.sources[file]
	e.sourceLock.Unlock()
	if s == nil {
		tree, _ := parser.ParseFile(e.fset, file, nil, mode)
		return tree
	}
	s.once.Do(func() {
		tree, _ := parser.ParseFile(e.fset, file, nil, mode|parser.ParseComments)
		if tree != nil && tree.Name != nil {
			e.noteTree(file, tree)
		}
		s.ast = tree
	})
	return s.ast
}

// declarations is a file of the repository without its function bodies.
func (e *engine) declarations(file string) *ast.File {
	e.sourceLock.Lock()
	tree := e.skeletons[file]
	e.sourceLock.Unlock()
	if tree == nil {
		if whole := e.parse(file); whole != nil {
			tree = skeletonOf(whole)
		}
	}
	return tree
}

// noteTree remembers the declarations of a file, and which version of it the positions of this syntax tree belong to.
func (e *engine) noteTree(file string, tree *ast.File) {
	n := e.fileIndex[file]
	at := e.fset.File(tree.FileStart)
	clause := at.PositionFor(tree.Name.Pos(), false)
	e.clauses.Store(file, target{file: n, line: int32(clause.Line - 1), col: int32(clause.Column - 1)})
	if !e.resident {
		return
	}
	e.declLock.Lock()
	if e.decls[n] == nil {
		e.decls[n] = newDecls(at, tree)
	}
	e.versions.Store(at, e.decls[n])
	e.declLock.Unlock()
	e.sourceLock.Lock()
	defer e.sourceLock.Unlock()
	if e.skeletons[file] == nil {
		e.skeletons[file] = skeletonOf(tree)
	}
}

// skeletonOf copies a syntax tree without function bodies and comments.
func skeletonOf(tree *ast.File) *ast.File {
	out := *tree
	out.Comments = nil
	out.Decls = make([]ast.Decl, len(tree.Decls))
	for i, decl := range tree.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			short := *fn
			short.Body = nil
			decl = &short
		}
		out.Decls[i] = decl
	}
	return &out
}
