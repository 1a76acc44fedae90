package main

// Methods that correspond through interfaces: asking for the references of one also collects the uses of the others.

import (
	"go/types"
	"maps"
	"slices"
	"sync/atomic"

	"golang.org/x/tools/go/types/objectpath"
)

// A methodKey is a method that some name of the repository declares or uses.
type methodKey struct {
	key int32
	fn  *types.Func
	pkg int32
}

// A candidate is a package-level type of the workspace with methods.
type candidate struct {
	pkg  int32
	name *types.TypeName
	set  *methodSet
}

type localKey struct{ key, pkg int32 }

type usePlace struct{ method, pkg int32 }

type methods struct {
	*checker
	stale  atomic.Bool // what the units tell is not what it was
	known  map[int32]*methodKey
	uses   map[int32]map[int32]bool // method → packages that use it
	locals map[int32]localKey       // key → its key inside its own package
	types  []*candidate
	sets   map[types.Type]*methodSet
	reach  map[int32]bitset // package path → workspace packages that import it, directly or not

	extra     map[usePlace][]int32 // further keys of the uses of a method in a package
	relations map[int32][]relation // by source key
}

func newMethods(c *checker) *methods {
	return &methods{checker: c, known: map[int32]*methodKey{}, uses: map[int32]map[int32]bool{}, locals: map[int32]localKey{},
		sets: map[types.Type]*methodSet{}, extra: map[usePlace][]int32{}, relations: map[int32][]relation{}}
}

func (m *methods) note(key int32, fn *types.Func) {
	if _, ok := m.known[key]; !ok && fn.Pkg() != nil {
		m.known[key] = &methodKey{key, fn, m.pathNumber(m.cleanPath(fn.Pkg().Path()))}
	}
}

func (m *methods) noteUse(key, pkg int32) {
	if m.uses[key] == nil {
		m.uses[key] = map[int32]bool{}
	}
	m.uses[key][pkg] = true
}

// candidates are the package-level types of a workspace package that have methods.
func candidates(u *unit, pkg *types.Package) []*candidate {
	scope := pkg.Scope()
	var found []*candidate
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || t.IsAlias() {
			continue
		}
		if set := newMethodSet(t.Type()); len(set.byID) > 0 {
			found = append(found, &candidate{u.path, t, set})
		}
	}
	return found
}

// compare finds out whether a unit that was recorded anew says something else of methods than before.
func (m *methods) compare(u *unit, now *told) {
	before := u.told
	if before == nil || !slices.Equal(keysOf(before.notes), keysOf(now.notes)) || !sameSet(before.uses, now.uses) ||
		!sameSet(before.locals, now.locals) || m.twins != nil && !sameSet(before.twins, now.twins) {
		m.stale.Store(true)
	}
}

func keysOf(notes []noted) []int32 {
	var keys []int32
	for _, each := range notes {
		keys = append(keys, each.key)
	}
	slices.Sort(keys)
	return keys
}

func sameSet[T comparable](a, b []T) bool {
	in := map[T]bool{}
	for _, x := range a {
		in[x] = true
	}
	count := 0
	seen := map[T]bool{}
	for _, x := range b {
		if !in[x] {
			return false
		}
		if !seen[x] {
			seen[x] = true
			count++
		}
	}
	return count == len(in)
}

// hear takes in what the units have to tell, after forgetting what they told in the last round.
func (m *methods) hear(units []*unit) {
	m.known, m.uses, m.locals = map[int32]*methodKey{}, map[int32]map[int32]bool{}, map[int32]localKey{}
	m.types, m.extra, m.relations = nil, map[usePlace][]int32{}, map[int32][]relation{}
	m.sets = map[types.Type]*methodSet{}
	if m.twins != nil {
		*m.twins = twins{byKey: map[int32]string{}, byName: map[string]int32{}}
	}
	for _, u := range units {
		if u.told == nil {
			continue
		}
		for i, each := range u.told.notes {
			if fn := m.current(each.fn); fn != nil {
				u.told.notes[i].fn = fn
				m.note(each.key, fn)
			}
		}
		for _, key := range u.told.uses {
			m.noteUse(key, u.path)
		}
		for _, each := range u.told.locals {
			m.locals[each.key] = localKey{each.local, each.pkg}
		}
		for _, each := range u.told.twins {
			m.twins.note(each.key, each.name)
		}
		m.types = append(m.types, u.told.types...)
	}
}

// current is the method as the package has it that others import now.
func (m *methods) current(fn *types.Func) *types.Func {
	for fn.Pkg() != nil {
		found, ok := m.replaced.Load(fn.Pkg())
		if !ok {
			return fn
		}
		if !ofPackage(fn) {
			return fn // of a type inside a function, or without a name: its text, which is what counts, is as it was
		}
		pkg := found.(*unit).types
		t, ok := pkg.Scope().Lookup(typeName(fn.Signature().Recv().Type())).(*types.TypeName)
		if !ok {
			m.lost.Store(true)
			return nil
		}
		obj, _, _ := types.LookupFieldOrMethod(t.Type(), true, pkg, fn.Name())
		next, ok := obj.(*types.Func)
		if !ok || next.Pkg() != pkg {
			m.lost.Store(true)
			return nil
		}
		fn = next
	}
	return fn
}

// ofPackage reports whether the method's type is declared at the top of its package.
func ofPackage(fn *types.Func) bool {
	recv := types.Unalias(fn.Signature().Recv().Type())
	if p, ok := recv.(*types.Pointer); ok {
		recv = types.Unalias(p.Elem())
	}
	named, ok := recv.(*types.Named)
	return ok && named.Obj().Parent() == fn.Pkg().Scope()
}

// relate finds, for every known method, which uses of corresponding methods live would add, and in which packages.
func (m *methods) relate(units []*unit) {
	m.reach = reachOf(units)
	byID := map[string][]*candidate{}
	for _, c := range m.types {
		for id := range c.set.byID {
			byID[id] = append(byID[id], c)
		}
	}
	inPackage := m.usedTogether()
	for _, key := range slices.Sorted(maps.Keys(m.known)) {
		k := m.known[key]
		recv := k.fn.Signature().Recv().Type()
		set := m.setOf(recv)
		near := map[int32]map[int32]bool{}
		for _, other := range inPackage[usePlaceName{k.pkg, k.fn.Name()}] {
			if other.key != key && m.corresponds(set, other.fn) {
				cover(near, other.key, k.pkg)
			}
		}
		if local, ok := m.locals[key]; ok {
			m.relateKey(local.key, near)
		}
		if k.fn.Exported() && reachable(k.fn) {
			m.expand(k, set, byID[k.fn.Id()], near)
		}
		m.relateKey(key, near)
	}
	m.implementations(byID)
}

type usePlaceName struct {
	pkg  int32
	name string
}

// usedTogether lists, by package and name, the methods that the package uses.
func (m *methods) usedTogether() map[usePlaceName][]*methodKey {
	out := map[usePlaceName][]*methodKey{}
	for _, key := range slices.Sorted(maps.Keys(m.uses)) {
		k := m.known[key]
		if k == nil {
			continue
		}
		for pkg := range m.uses[key] {
			place := usePlaceName{pkg, k.fn.Name()}
			out[place] = append(out[place], k)
		}
	}
	return out
}

func cover(covered map[int32]map[int32]bool, key, pkg int32) {
	if covered[key] == nil {
		covered[key] = map[int32]bool{}
	}
	covered[key][pkg] = true
}

func (m *methods) setOf(t types.Type) *methodSet {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	set := m.sets[t]
	if set == nil {
		set = newMethodSet(t)
		m.sets[t] = set
	}
	return set
}

func (m *methods) corresponds(set *methodSet, other *types.Func) bool {
	theirs := m.setOf(other.Signature().Recv().Type())
	return set.implements(theirs) || theirs.implements(set)
}

// reachable reports whether live can name the method from other packages.
func reachable(fn *types.Func) bool {
	recv := fn.Signature().Recv().Type()
	if p, ok := types.Unalias(recv).(*types.Pointer); ok {
		recv = p.Elem()
	}
	if named, ok := types.Unalias(recv).(*types.Named); ok {
		return named.Obj().Parent() == fn.Pkg().Scope()
	}
	_, err := objectpath.For(fn)
	return err == nil
}

// expand adds the uses of the method's counterparts in the workspace, where live's search reaches them.
func (m *methods) expand(k *methodKey, set *methodSet, candidates []*candidate, covered map[int32]map[int32]bool) {
	scope := m.reach[k.pkg].clone()
	declaring := map[int32]bool{}
	found := map[int32]int32{} // method → package that declares it
	id := k.fn.Id()
	for _, c := range candidates {
		if !c.set.implements(set) && !set.implements(c.set) {
			continue
		}
		fn := c.set.byID[id].fn.Origin()
		if fn.Pkg() == nil {
			continue // error.Error
		}
		if !declaring[c.pkg] {
			declaring[c.pkg] = true
			scope.union(m.reach[c.pkg])
		}
		found[m.key(fn)] = m.pathNumber(m.cleanPath(fn.Pkg().Path()))
	}
	for other, home := range found {
		if other == k.key {
			continue
		}
		for pkg := range m.uses[other] {
			if pkg == home && declaring[pkg] || pkg != home && scope.has(pkg) {
				cover(covered, other, pkg)
			}
		}
	}
}

// relateKey turns covered uses into `also` relations: one to all uses of a method, or one per package.
func (m *methods) relateKey(source int32, covered map[int32]map[int32]bool) {
	for other, pkgs := range covered {
		name := m.view.prefix + "uses of " + m.stableName(m.known[other].fn)
		if len(pkgs) == len(m.uses[other]) {
			all := m.table.name(name)
			for pkg := range pkgs {
				m.addExtra(usePlace{other, pkg}, all)
			}
			m.relations[source] = append(m.relations[source], relation{"also", source, all})
			continue
		}
		for pkg := range pkgs {
			some := m.table.name(name + " in " + m.pathNames[pkg])
			m.addExtra(usePlace{other, pkg}, some)
			m.relations[source] = append(m.relations[source], relation{"also", source, some})
		}
	}
}

func (m *methods) addExtra(at usePlace, key int32) {
	if !slices.Contains(m.extra[at], key) {
		m.extra[at] = append(m.extra[at], key)
	}
}

// implementations relates the workspace's types to the interfaces that they satisfy, and their methods likewise.
func (m *methods) implementations(byID map[string][]*candidate) {
	seen := map[relation]bool{}
	add := func(kind string, from, to types.Object) {
		r := relation{kind, m.definition(from), m.definition(to)}
		if m.table.targets[r.source].file >= 0 && r.source != r.dest && !seen[r] {
			seen[r] = true
			m.relations[r.source] = append(m.relations[r.source], r)
		}
	}
	for _, face := range m.types {
		if !face.set.isInterface {
			continue
		}
		for _, c := range byID[rarest(face.set, byID)] {
			if c.set.isInterface || !c.set.implements(face.set) {
				continue
			}
			add("implement", c.name, face.name)
			for id, method := range face.set.byID {
				if method.fn.Pkg() != nil {
					add("override", c.set.byID[id].fn, method.fn)
				}
			}
		}
	}
}

func rarest(set *methodSet, byID map[string][]*candidate) string {
	best := ""
	for id := range set.byID {
		if best == "" || len(byID[id]) < len(byID[best]) {
			best = id
		}
	}
	return best
}

// forget drops the type checker's data, so that the next view's fits into memory.
func (m *methods) forget() {
	m.known, m.uses, m.types, m.sets, m.reach = nil, nil, nil, nil, nil
	m.checker = &checker{engine: m.engine, pathNames: m.pathNames, twins: m.twins}
}
