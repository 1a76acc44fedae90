package main

// A unit after an edit in, the facts of the files that can differ out: of the others only the declarations are looked at.

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"
)

// checkSelected checks the function bodies of the files whose facts the edit can change: edited and new ones, those that
// mention a name which means something else, and those that import what leads elsewhere. The facts of other files stay. False,
// and nothing has changed, where more than that decides.
func (c *checker) checkSelected(u *unit, importsChanged bool) bool {
	if u.anew || u.allNamesChanged || u.membership == outside || u.types == nil || u.surface == nil {
		return false
	}
	if u.facts == nil || len(u.facts.failed) > 0 || !c.noteOtherImports(u) {
		return false
	}
	s := &selection{checker: c, unit: u, notes: map[string]*fileNotes{}, chosen: map[string]bool{}}
	for _, notes := range u.facts.files {
		s.notes[notes.path] = notes
	}
	if !s.chooseEdited() {
		return false
	}
	s.chooseMentioning(u.changedNames)
	for {
		if !s.check() {
			return false
		}
		s.surface = surfaceOf(s.pkg)
		names, wide := changedNames(u.surface, s.surface, inner)
		if wide {
			return false
		}
		if !s.chooseMentioning(names) {
			break
		}
	}
	return s.record(importsChanged)
}

// noteOtherImports notes the imports that came or went; false where one leads to another unit than before.
func (c *checker) noteOtherImports(u *unit) bool {
	for path, before := range u.oldImports {
		switch now := u.imports[path]; {
		case now == nil:
			u.touch(path)
		case now != before:
			return false
		}
	}
	for path := range u.imports {
		if u.oldImports != nil && u.oldImports[path] == nil {
			u.touch(path)
		}
	}
	return true
}

// A selection is the files of a unit whose bodies are checked, and what the type checker says of them.
type selection struct {
	*checker
	unit    *unit
	notes   map[string]*fileNotes // before the edit, by file
	chosen  map[string]bool
	trees   []*ast.File // of all files; function bodies of the chosen ones alone
	pkg     *types.Package
	surface map[string]string // of pkg
	info    *types.Info
	facts   *unitFacts
}

// chooseEdited chooses the files that are edited or new, and those with an import that leads elsewhere; false where a file is
// not the repository's.
func (s *selection) chooseEdited() bool {
	for _, file := range s.unit.files {
		if _, ok := s.fileIndex[file]; !ok {
			return false // generated, for C
		}
		if !s.isRecorded(file) {
			continue
		}
		s.chosen[file] = s.notes[file] == nil || s.notes[file].facts == nil || slices.Contains(s.unit.edited, file) ||
			len(s.unit.touchedPaths) > 0 && s.importsTouched(file)
	}
	return true
}

func (s *selection) importsTouched(file string) bool {
	tree := s.declarations(file)
	return tree == nil || slices.ContainsFunc(tree.Imports, func(spec *ast.ImportSpec) bool {
		path, err := strconv.Unquote(spec.Path.Value)
		return err == nil && s.unit.touchedPaths[path]
	})
}

// chooseMentioning chooses more files: those that mention a name which means something else, or can depend on it without.
func (s *selection) chooseMentioning(names map[string]bool) bool {
	more := false
	for file, is := range s.chosen {
		if !is && len(names) > 0 && (s.notes[file].satisfies || s.mentions(file, names)) {
			s.chosen[file], more = true, true
		}
	}
	return more
}

// check type-checks the unit; false where it fails, or where the package's documentation is elsewhere now, which every file has
// as the definition of the package's name.
func (s *selection) check() bool {
	s.trees = s.trees[:0]
	bodies := false
	for _, file := range s.unit.files {
		tree := s.declarations(file)
		if s.chosen[file] {
			tree, bodies = s.parse(file), true
		}
		if tree == nil || tree.Name == nil {
			return false
		}
		s.trees = append(s.trees, tree)
	}
	if s.nameOf(s.documentedIn(s.trees)) != s.unit.documented {
		return false
	}
	s.facts = &unitFacts{}
	s.pkg, s.info = s.checkTrees(s.unit, s.trees, bodies, s.facts)
	return len(s.facts.failed) == 0
}

// record records the facts of the chosen files and keeps those of the others.
func (s *selection) record(importsChanged bool) bool {
	u := s.unit
	var trees []*ast.File
	for i, file := range u.files {
		if s.chosen[file] {
			trees = append(trees, s.trees[i])
		}
	}
	s.recovering(u, s.facts, func() { s.checker.record(u, s.pkg, trees, s.documentedIn(s.trees), s.info, s.facts) })
	if len(s.facts.failed) > 0 {
		return false
	}
	fresh := s.facts.files
	for _, notes := range fresh {
		s.notes[notes.path] = notes
	}
	s.facts.files = nil
	for _, file := range u.files {
		if notes := s.notes[file]; notes != nil && s.isRecorded(file) {
			notes.facts.packageSize = len(u.files)
			s.facts.files = append(s.facts.files, notes)
		}
	}
	clauses := s.clausesOf(u)
	u.filesChanged, u.clauses = clauses != u.clauses, clauses
	s.publish(u, s.pkg, s.surface, importsChanged)
	s.refer(fresh, s.pkg, u.types)
	s.facts.types = u.facts.types
	if u.typesChanged {
		s.facts.types = candidatesOf(u, u.types)
	}
	s.methods.markStale(u, s.facts)
	u.facts = s.facts
	return true
}

// refer makes notes that were taken of one package refer to the methods of another that declares the same types.
func (c *checker) refer(files []*fileNotes, from, to *types.Package) {
	if from == to {
		return
	}
	for _, notes := range files {
		for i, each := range notes.methods {
			if each.fn.Pkg() == from {
				if fn := c.methodIn(to, each.fn); fn != nil {
					notes.methods[i].fn = fn
				}
			}
		}
	}
}
