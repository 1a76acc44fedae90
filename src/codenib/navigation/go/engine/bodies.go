package main

// A unit with edited files in, the facts of these files out: of the others only the declarations are looked at.

import (
	"go/ast"
	"go/parser"
	"maps"
	"slices"
)

// checkEdited checks the function bodies of a unit's edited files. The facts of its other files stay, as what the package
// declares is the same; false, and nothing has changed, where it is not, or where more than bodies decides.
func (c *checker) checkEdited(u *unit) bool {
	if u.membership == outside || u.facts == nil || len(u.facts.failed) > 0 || u.types == nil || u.surface == nil {
		return false
	}
	var trees, edited []*ast.File
	for _, file := range u.files {
		if _, ok := c.fileIndex[file]; !ok {
			return false // generated, for C
		}
		tree, isEdited := c.declarations(file), false
		if slices.Contains(u.edited, file) {
			tree, isEdited = c.parse(file), true
		}
		if tree == nil {
			return false
		}
		trees = append(trees, tree)
		if isEdited {
			edited = append(edited, tree)
		}
	}
	documented := c.documentedIn(trees)
	if c.clausesOf(u) != u.clauses || c.nameOf(documented) != u.documented {
		return false
	}
	facts := &unitFacts{types: u.facts.types}
	pkg, info := c.checkTrees(u, trees, true, facts)
	if len(facts.failed) > 0 || !maps.Equal(surfaceOf(pkg), u.surface) {
		return false
	}
	c.recovering(u, facts, func() { c.record(u, pkg, edited, documented, info, facts) })
	if len(facts.failed) > 0 {
		return false
	}
	recorded := map[string]*fileNotes{}
	for _, notes := range facts.files {
		recorded[notes.path] = notes
	}
	facts.files = slices.Clone(u.facts.files)
	for i, notes := range facts.files {
		if slices.Contains(u.edited, notes.path) {
			if facts.files[i] = recorded[notes.path]; facts.files[i] == nil {
				return false
			}
			delete(recorded, notes.path)
		}
	}
	if len(recorded) > 0 {
		return false
	}
	c.methods.markStale(u, facts)
	u.facts = facts
	return true
}

// declarations is a file without its function bodies; it stays parsed until it is edited.
func (c *checker) declarations(file string) *ast.File {
	c.mu.Lock()
	tree := c.skeletons[file]
	c.mu.Unlock()
	if tree != nil {
		return tree
	}
	tree, _ = parser.ParseFile(c.fset, file, nil, parser.AllErrors|parser.SkipObjectResolution|parser.ParseComments)
	if tree == nil || tree.Name == nil {
		return nil
	}
	c.recordVersion(file, tree)
	dropBodies(tree)
	tree.Comments = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skeletons[file] = tree
	return tree
}
