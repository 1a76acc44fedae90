package main

import "testing"

func TestABitsetGrowsWithItsMembers(t *testing.T) {
	var b, other bitset
	b.add(3)
	other.add(200)
	copied := b.clone()
	b.union(other)
	if !b.has(3) || !b.has(200) || b.has(64) || b.has(1000) || copied.has(200) {
		t.Errorf("%v and %v", b, copied)
	}
}

func TestImportersAreTransitiveAndInTheWorkspace(t *testing.T) {
	base := &unit{path: 0}
	outer := &unit{path: 1, membership: outside}
	user := &unit{path: 2, membership: workspace}
	base.users, outer.users = []*unit{outer}, []*unit{user}
	got := importersOf([]*unit{base, outer, user})
	if all := got[0]; !all.has(2) || all.has(1) || all.has(0) {
		t.Errorf("%v", all)
	}
	if len(got[2]) != 0 {
		t.Errorf("nobody imports the last one: %v", got[2])
	}
}
