package main

import "testing"

func TestEqualTargetsAndListsAreInternedOnce(t *testing.T) {
	table := newTable()
	a, b := table.name("a"), table.target(target{file: 0, line: 3, col: 1})
	if again := table.target(target{file: 0, line: 3, col: 1}); again != b {
		t.Errorf("the same place has the numbers %d and %d", b, again)
	}
	if table.list(b, a, b) != table.list(a, b) {
		t.Error("order and repetition make two lists of one set")
	}
	if table.list() == noList || len(table.items(table.list())) != 0 {
		t.Error("the empty set is a list of its own")
	}
	if table.items(noList) != nil {
		t.Error("no list has no items")
	}
}

func TestTargetsFollowTheirDeclarationsThroughAnEdit(t *testing.T) {
	before := declsOf(t, "package p\n\nfunc Stays() {}\n\nfunc Goes() {}\n")
	after := declsOf(t, "package p\n\n// A line more.\nfunc Stays() {}\n")
	table := newTable()
	stays, goes := table.target(target{line: 2, col: 5}), table.target(target{line: 4, col: 5})
	table.relocate(0, before, after)
	if at := table.targets[stays]; at.line != 3 || at.col != 5 {
		t.Errorf("the declaration is at line 3, its target at %d", at.line)
	}
	if table.target(target{line: 3, col: 5}) != stays {
		t.Error("the new place has another number")
	}
	if !table.removed[goes] || table.removed[stays] {
		t.Errorf("removed are %v, only %d is gone", table.removed, goes)
	}
}
