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

// A candidate is a package-level type of the repository with methods. Those of other views are not searched for corresponding
// methods: their uses are not known here.
type candidate struct {
	pkg      int32
	name     *types.TypeName
	set      *methodSet
	searched bool
}

type localKey struct{ key, pkg int32 }

type methodUse struct{ method, pkg int32 }

type methods struct {
	*checker
	stale      atomic.Bool // the facts of units about methods changed
	byKey      map[int32]*methodKey
	uses       map[int32]map[int32]bool // method → packages that use it
	locals     map[int32]localKey       // key → its key inside its own package
	candidates []*candidate
	sets       map[types.Type]*methodSet
	importers  map[int32]bitset // package path → packages of the view that import it, directly or transitively

	extraKeys    map[methodUse][]int32 // further keys of the uses of a method in a package
	relations    map[int32][]relation  // by source key
	platformUses map[string]int32      // for a view of another platform: method → the key of its uses, also in the base view
}

func newMethods(c *checker) *methods {
	return &methods{checker: c, byKey: map[int32]*methodKey{}, uses: map[int32]map[int32]bool{}, locals: map[int32]localKey{},
		sets: map[types.Type]*methodSet{}, extraKeys: map[methodUse][]int32{}, relations: map[int32][]relation{},
		platformUses: map[string]int32{}}
}

func (m *methods) note(key int32, fn *types.Func) {
	if _, ok := m.byKey[key]; !ok && fn.Pkg() != nil {
		m.byKey[key] = &methodKey{key, fn, m.pathNumber(m.cleanPath(fn.Pkg().Path()))}
	}
}

func (m *methods) noteUse(key, pkg int32) {
	if m.uses[key] == nil {
		m.uses[key] = map[int32]bool{}
	}
	m.uses[key][pkg] = true
}

// candidatesOf lists the package-level types of a package that have methods.
func candidatesOf(u *unit, pkg *types.Package) []*candidate {
	scope := pkg.Scope()
	var out []*candidate
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || t.IsAlias() {
			continue
		}
		if set := newMethodSet(t.Type()); len(set.byID) > 0 {
			out = append(out, &candidate{u.path, t, set, u.membership != otherView})
		}
	}
	return out
}

// markStale marks the relations between methods stale when the new facts of a unit mention other methods than before.
func (m *methods) markStale(u *unit, now *unitFacts) {
	before := u.facts
	same := before != nil && sameSet(before, now, methodKeys) &&
		sameSet(before, now, func(n *fileNotes) []int32 { return n.methodUses }) &&
		sameSet(before, now, func(n *fileNotes) []localKeyOf { return n.localKeys }) &&
		(m.platformNames == nil || sameSet(before, now, func(n *fileNotes) []symbolName { return n.names }))
	if !same {
		m.stale.Store(true)
	}
}

func methodKeys(notes *fileNotes) []int32 {
	var keys []int32
	for _, each := range notes.methods {
		keys = append(keys, each.key)
	}
	return keys
}

// sameSet reports whether the files of two units have the same items, not counting how often.
func sameSet[T comparable](a, b *unitFacts, items func(*fileNotes) []T) bool {
	return maps.Equal(setOf(a, items), setOf(b, items))
}

func setOf[T comparable](facts *unitFacts, items func(*fileNotes) []T) map[T]bool {
	set := map[T]bool{}
	for _, notes := range facts.files {
		for _, item := range items(notes) {
			set[item] = true
		}
	}
	return set
}

// collect takes in the facts of the units about methods, in place of those of the last round.
func (m *methods) collect(units []*unit) {
	m.byKey, m.uses, m.locals = map[int32]*methodKey{}, map[int32]map[int32]bool{}, map[int32]localKey{}
	m.candidates, m.extraKeys, m.relations = nil, map[methodUse][]int32{}, map[int32][]relation{}
	m.sets, m.platformUses = map[types.Type]*methodSet{}, map[string]int32{}
	if m.platformNames != nil {
		*m.platformNames = platformNames{byKey: map[int32]string{}, byName: map[string]int32{}}
	}
	for _, u := range units {
		if u.facts == nil {
			if m.view.base >= 0 && u.types != nil && !u.intermediate() && m.inRepository(u.Package) {
				m.candidates = append(m.candidates, candidatesOf(u, u.types)...) // its facts come from the base view
			}
			continue
		}
		for _, notes := range u.facts.files {
			m.collectFile(u, notes)
		}
		m.candidates = append(m.candidates, u.facts.types...)
	}
}

func (m *methods) collectFile(u *unit, notes *fileNotes) {
	for i, each := range notes.methods {
		if fn := m.current(each.fn); fn != nil {
			notes.methods[i].fn = fn
			m.note(each.key, fn)
		}
	}
	for _, key := range notes.methodUses {
		m.noteUse(key, u.path)
	}
	for _, each := range notes.localKeys {
		m.locals[each.key] = localKey{each.local, each.pkg}
	}
	for _, each := range notes.names {
		m.platformNames.add(each.key, each.name)
	}
}

// current returns the method's object in the package that importers use now.
func (m *methods) current(fn *types.Func) *types.Func {
	for fn.Pkg() != nil {
		successor, ok := m.replaced.Load(fn.Pkg())
		if !ok {
			return fn
		}
		next := m.methodIn(successor.(*unit).types, fn)
		if next == fn || next == nil {
			return next
		}
		fn = next
	}
	return fn
}

// methodIn returns the method of the same name and type in another state of its package. Of a local or unnamed type it is the
// method itself: only its text counts, which has not changed.
func (c *checker) methodIn(pkg *types.Package, fn *types.Func) *types.Func {
	if !isPackageLevel(fn) {
		return fn
	}
	if t, ok := pkg.Scope().Lookup(typeName(fn.Signature().Recv().Type())).(*types.TypeName); ok {
		obj, _, _ := types.LookupFieldOrMethod(t.Type(), true, pkg, fn.Name())
		if next, ok := obj.(*types.Func); ok && next.Pkg() == pkg {
			return next
		}
	}
	c.mustRestart.Store(true)
	return nil
}

// isPackageLevel reports whether the method's type is declared at package level.
func isPackageLevel(fn *types.Func) bool {
	recv := types.Unalias(fn.Signature().Recv().Type())
	if p, ok := recv.(*types.Pointer); ok {
		recv = types.Unalias(p.Elem())
	}
	named, ok := recv.(*types.Named)
	return ok && named.Obj().Parent() == fn.Pkg().Scope()
}

// relate computes, for every method, the uses of corresponding methods that gopls lists with its own, and in which packages.
func (m *methods) relate(units []*unit) {
	m.importers = importersOf(units)
	byID := map[string][]*candidate{}
	searched := map[string][]*candidate{}
	for _, c := range m.candidates {
		for id := range c.set.byID {
			byID[id] = append(byID[id], c)
			if c.searched {
				searched[id] = append(searched[id], c)
			}
		}
	}
	inPackage := m.usedTogether()
	for _, key := range slices.Sorted(maps.Keys(m.byKey)) {
		k := m.byKey[key]
		recv := k.fn.Signature().Recv().Type()
		set := m.setOf(recv)
		related := map[int32]map[int32]bool{}
		for _, other := range inPackage[namedUse{k.pkg, k.fn.Name()}] {
			if other.key != key && m.corresponds(set, other.fn) {
				addUse(related, other.key, k.pkg)
			}
		}
		if local, ok := m.locals[key]; ok {
			m.relateKey(local.key, related)
		}
		if k.fn.Exported() && isReachable(k.fn) {
			m.expand(k, set, searched[k.fn.Id()], related)
		}
		m.relateKey(key, related)
	}
	m.implementations(byID)
}

type namedUse struct {
	pkg  int32
	name string
}

// usedTogether lists the methods that each package uses, by package and name.
func (m *methods) usedTogether() map[namedUse][]*methodKey {
	out := map[namedUse][]*methodKey{}
	for _, key := range slices.Sorted(maps.Keys(m.uses)) {
		k := m.byKey[key]
		if k == nil {
			continue
		}
		for pkg := range m.uses[key] {
			place := namedUse{pkg, k.fn.Name()}
			out[place] = append(out[place], k)
		}
	}
	return out
}

func addUse(covered map[int32]map[int32]bool, key, pkg int32) {
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

// isReachable reports whether gopls can find the method from other packages.
func isReachable(fn *types.Func) bool {
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

// expand adds the uses of corresponding methods in the packages that gopls searches.
func (m *methods) expand(k *methodKey, set *methodSet, candidates []*candidate, covered map[int32]map[int32]bool) {
	scope := m.importers[k.pkg].clone()
	declaring := map[int32]bool{}
	counterparts := map[int32]int32{} // method → package that declares it
	inBase := m.view.base >= 0        // most uses are there
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
			scope.union(m.importers[c.pkg])
		}
		other := m.key(fn)
		counterparts[other] = m.pathNumber(m.cleanPath(fn.Pkg().Path()))
		if inBase {
			m.note(other, fn)
		}
	}
	for other, home := range counterparts {
		if other == k.key {
			continue
		}
		if inBase {
			covered[other] = m.uses[other]
			continue
		}
		for pkg := range m.uses[other] {
			if pkg == home && declaring[pkg] || pkg != home && scope.has(pkg) {
				addUse(covered, other, pkg)
			}
		}
	}
}

// relateKey turns related uses into `also` relations: one to all uses of a method, or one per package.
func (m *methods) relateKey(source int32, covered map[int32]map[int32]bool) {
	for other, pkgs := range covered {
		method := m.stableName(m.byKey[other].fn)
		name := m.view.prefix + "uses of " + method
		if len(pkgs) == len(m.uses[other]) {
			all := m.table.name(name)
			if m.view.base >= 0 {
				m.platformUses[method] = all
			}
			for pkg := range pkgs {
				m.addExtra(methodUse{other, pkg}, all)
			}
			m.relations[source] = append(m.relations[source], relation{"also", source, all})
			continue
		}
		for pkg := range pkgs {
			some := m.table.name(name + " in " + m.pathNames[pkg])
			m.addExtra(methodUse{other, pkg}, some)
			m.relations[source] = append(m.relations[source], relation{"also", source, some})
		}
	}
}

func (m *methods) addExtra(at methodUse, key int32) {
	if !slices.Contains(m.extraKeys[at], key) {
		m.extraKeys[at] = append(m.extraKeys[at], key)
	}
}

// implementations relates types and their methods to the interfaces that they satisfy.
func (m *methods) implementations(byID map[string][]*candidate) {
	added := map[relation]bool{}
	add := func(kind string, from, to types.Object) {
		r := relation{kind, m.definition(from), m.definition(to)}
		if m.table.targets[r.source].file >= 0 && r.source != r.dest && !added[r] {
			added[r] = true
			m.relations[r.source] = append(m.relations[r.source], r)
		}
	}
	for _, iface := range m.candidates {
		if !iface.set.isInterface {
			continue
		}
		for _, c := range byID[rarest(iface.set, byID)] {
			if c.set.isInterface || !c.set.implements(iface.set) {
				continue
			}
			add("implement", c.name, iface.name)
			for id, method := range iface.set.byID {
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

// release drops the type checker's data, so that the next view fits into memory.
func (m *methods) release() {
	m.byKey, m.uses, m.candidates, m.sets, m.importers = nil, nil, nil, nil, nil
	m.checker = &checker{engine: m.engine, pathNames: m.pathNames, platformNames: m.platformNames}
}
