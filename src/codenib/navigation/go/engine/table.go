package main

// Interned targets and lists: what occurrences refer to, as small integers.

import (
	"encoding/binary"
	"slices"
	"sync"
)

// A target is a declaration's name in a file of the repository, or (file < 0) a string for anything else.
type target struct {
	file, line, col int32
	name            string
}

const noList int32 = -1

type table struct {
	mu       sync.Mutex
	targets  []target
	byTarget map[target]int32
	ofFile   map[int32][]int32
	removed  map[int32]bool // targets that an edit removed
	lists    [][]int32
	byList   map[string]int32
}

func newTable() *table {
	return &table{byTarget: map[target]int32{}, byList: map[string]int32{}, ofFile: map[int32][]int32{}, removed: map[int32]bool{}}
}

func (t *table) target(x target) int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok := t.byTarget[x]
	if !ok {
		id = int32(len(t.targets))
		t.targets = append(t.targets, x)
		t.byTarget[x] = id
		if x.file >= 0 {
			t.ofFile[x.file] = append(t.ofFile[x.file], id)
		}
	}
	return id
}

// relocate updates the targets in an edited file; those whose declarations still exist keep their numbers.
func (t *table) relocate(file int32, before, after *decls) {
	ids := t.ofFile[file]
	t.ofFile[file] = nil
	for _, id := range ids {
		delete(t.byTarget, t.targets[id])
	}
	for _, id := range ids {
		x := &t.targets[id]
		at, ok := after.byName[before.byPlace[[2]int32{x.line, x.col}]]
		if !ok {
			t.removed[id] = true
			continue
		}
		x.line, x.col = at[0], at[1]
		t.byTarget[*x] = id
		t.ofFile[file] = append(t.ofFile[file], id)
	}
}

func (t *table) name(s string) int32 { return t.target(target{file: -1, name: s}) }

// list interns a set of targets; the empty set is a list too (noList means "none given").
func (t *table) list(ids ...int32) int32 {
	if len(ids) > 1 {
		ids = slices.Clone(ids)
		slices.Sort(ids)
		ids = slices.Compact(ids)
	}
	key := make([]byte, 0, 4*len(ids))
	for _, id := range ids {
		key = binary.LittleEndian.AppendUint32(key, uint32(id))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok := t.byList[string(key)]
	if !ok {
		id = int32(len(t.lists))
		t.lists = append(t.lists, slices.Clone(ids))
		t.byList[string(key)] = id
	}
	return id
}

// items returns the set of a list number.
func (t *table) items(list int32) []int32 {
	if list < 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lists[list]
}
