package main

// The facts of one type-checked package: syntax trees and the checker's tables in, occurrences and nodes per file out.

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

const (
	roleDeclaration = 1
	roleImport      = 2
	roleCall        = 4
	roleType        = 8
	roleWrite       = 16
	roleInherit     = 32
	roleInexact     = 64
)

// An occurrence is one name in a file. Its lists of targets are numbers in the table: the definitions, the keys under which
// it is listed as a reference, and the keys that a search for references from here asks for (noList: the same).
type occurrence struct {
	line, col, end   int32
	roles            int32
	defs, keys, asks int32
	method           int32 // the key, when this is a use (not the declaration) of a method; else -1
}

type node struct {
	name, kind                 string
	parent                     int32
	line, col, endLine, endCol int32
	selLine, selCol, selEnd    int32
	local                      bool
}

type relation struct {
	kind         string
	source, dest int32
}

// A resolution says what an identifier resolves to: list numbers as in occurrence, and the method that it uses or -1.
type resolution struct{ defs, keys, asks, method int32 }

// definedBy is a resolution that has definitions and is listed nowhere.
func definedBy(defs int32) resolution { return resolution{defs, noList, noList, -1} }

// fileFacts are the facts of a file in one package variant.
type fileFacts struct {
	view        int
	pkg         int32
	packageSize int // number of files: the smallest variant answers
	answers     bool
	scope       string
	number      int64   // unique in an engine
	keys        []int32 // of its occurrences, each once
	asks        []int32 // of its occurrences, each once
	usedMethods []int32 // keys of the methods that it uses, each once
	occurrences []occurrence
	nodes       []node
	relations   []relation
}

// A recorder has the state that the files of one package share.
type recorder struct {
	*checker
	unit         *unit
	info         *types.Info
	pkg          *types.Package
	notes        *fileNotes     // of the file that is recorded
	notedMethods map[int32]bool // keys of the methods in them
	usedMethods  map[int32]bool
	keys         map[types.Object]int32
	documented   int32 // list with the package clause that has the documentation, or noList
}

// record adds the facts of files of a unit; `documented` is the file whose package clause has the documentation, if any.
func (c *checker) record(u *unit, pkg *types.Package, trees []*ast.File, documented *ast.File, info *types.Info, out *unitFacts) {
	r := &recorder{checker: c, unit: u, pkg: pkg, info: info, documented: noList}
	if documented != nil {
		at, _ := c.place(documented.Name.Pos())
		r.documented = c.table.list(c.table.target(at))
	}
	for _, tree := range trees {
		at, ok := c.place(tree.Name.Pos())
		if !ok {
			continue
		}
		home := c.viewOf[at.file] == c.view.index
		if !home && c.view.base >= 0 {
			continue
		}
		r.notes = &fileNotes{path: c.nameOf(tree), file: at.file}
		r.keys, r.notedMethods, r.usedMethods = map[types.Object]int32{}, map[int32]bool{}, map[int32]bool{}
		out.files = append(out.files, r.notes) // before it is walked: what it adds counts also where the walk fails
		w := &walker{recorder: r, tree: tree, roles: map[*ast.Ident]int32{}, file: c.fset.File(tree.FileStart),
			facts: &fileFacts{view: c.view.index, pkg: u.path, packageSize: len(u.files), answers: home, scope: u.scope}}
		w.walk()
		w.facts.number = c.factsNumber.Add(1)
		w.facts.indexKeys(c.table)
		r.notes.facts = w.facts
	}
}

// documentedIn is the first file of the repository whose package clause has documentation.
func (c *checker) documentedIn(trees []*ast.File) *ast.File {
	for _, tree := range trees {
		if tree.Doc != nil {
			if _, ok := c.place(tree.Name.Pos()); ok {
				return tree
			}
		}
	}
	return nil
}

// indexKeys collects the keys and methods of the occurrences.
func (facts *fileFacts) indexKeys(t *table) {
	lists := map[int32]bool{}
	add := func(into *[]int32, list, mark int32) {
		if list < 0 || lists[2*list+mark] {
			return
		}
		lists[2*list+mark] = true
		*into = append(*into, t.items(list)...)
	}
	for _, o := range facts.occurrences {
		add(&facts.keys, o.keys, 0)
		add(&facts.asks, o.asks, 1)
		if o.method >= 0 {
			facts.usedMethods = append(facts.usedMethods, o.method)
		}
	}
	for _, all := range []*[]int32{&facts.keys, &facts.asks, &facts.usedMethods} {
		slices.Sort(*all)
		*all = slices.Clip(slices.Compact(*all))
	}
}

func (r *recorder) noteMethod(key int32, fn *types.Func) {
	if !r.notedMethods[key] {
		r.notedMethods[key] = true
		r.notes.methods = append(r.notes.methods, methodRef{key, fn})
	}
}

func (r *recorder) keyOf(obj types.Object) int32 {
	k, ok := r.keys[obj]
	if !ok {
		k = r.key(obj)
		r.keys[obj] = k
		if r.platformNames != nil && nameable(obj) {
			name := r.stableName(obj)
			r.notes.names = append(r.notes.names, symbolName{k, name})
		}
	}
	return k
}

// use resolves an identifier that uses obj.
func (r *recorder) use(id *ast.Ident, obj types.Object) resolution {
	out := definedBy(r.table.list(r.definition(obj)))
	if !obj.Pos().IsValid() {
		return out // a builtin: no references
	}
	k := r.keyOf(obj)
	local := obj.Pkg() == r.pkg
	instance := origin(obj) != obj
	_, field := obj.(*types.Var)
	switch {
	case local:
		out.keys = r.table.list(k)
	case !id.IsExported() || (field && instance) || r.unit.membership >= otherView:
		out.asks = r.table.list(k) // gopls's index of other packages has none of these
	case r.unit.membership == orphan:
		own := r.table.name(r.view.prefix + "in " + r.pathName(r.unit.path) + ": " + r.stableName(obj))
		out.keys, out.asks = r.table.list(own), r.table.list(k, own)
	default:
		out.keys = r.table.list(k)
	}
	if instance && obj.Exported() {
		out.asks = r.localOnly(obj, k)
	}
	if fn, ok := obj.(*types.Func); ok {
		r.notes.satisfies = r.notes.satisfies || infersFromMethods(fn.Signature())
	}
	if fn, ok := obj.(*types.Func); ok && fn.Signature().Recv() != nil {
		r.noteMethod(k, fn.Origin())
		if out.keys != noList || r.unit.membership == unbuilt {
			out.method = k
			if (local || r.unit.membership != otherView) && !r.usedMethods[k] {
				r.usedMethods[k] = true
				r.notes.methodUses = append(r.notes.methodUses, k)
			}
		}
	}
	return out
}

// infersFromMethods reports whether the type arguments of a function can follow from the methods of its arguments' types.
func infersFromMethods(of *types.Signature) bool {
	for param := range of.TypeParams().TypeParams() {
		if constraint, ok := param.Constraint().Underlying().(*types.Interface); ok && constraint.NumMethods() > 0 {
			return true
		}
	}
	return false
}

// localOnly is the list that an instantiated member asks for: gopls searches its declaring package alone.
func (r *recorder) localOnly(obj types.Object, k int32) int32 {
	if _, ok := r.place(obj.Pos()); !ok {
		return r.table.list()
	}
	own := r.table.name(r.view.prefix + "local " + r.stableName(obj))
	pkg := r.pathNumber(r.cleanPath(obj.Pkg().Path()))
	r.notes.localKeys = append(r.notes.localKeys, localKeyOf{k, own, pkg})
	return r.table.list(own)
}

// importSpec records an import: its name or path declares a name in the file, and its path leads to the package's files.
func (w *walker) importSpec(spec *ast.ImportSpec) {
	path, _ := strconv.Unquote(spec.Path.Value)
	imported := w.unit.imports[path]
	w.notes.imports++
	if imported == nil && path != "unsafe" && path != "C" {
		w.notes.missing = append(w.notes.missing, path)
		w.facts.scope = scopePartial
	}
	defs := noList
	if imported != nil {
		defs = w.packageFiles(imported)
	} else if path == "unsafe" {
		defs = w.table.list(w.table.name("unsafe"))
	}
	start := spec.Path.Pos()
	length := len(spec.Path.Value)
	if spec.Name != nil {
		start, length = spec.Name.Pos(), len(spec.Name.Name)
	}
	pkgName := w.info.PkgNameOf(spec)
	if pkgName == nil {
		w.add(spec.Path.Pos(), len(spec.Path.Value), roleImport|roleInexact, definedBy(defs))
		return
	}
	at, _ := w.place(start)
	own := w.keyOf(pkgName)
	keyed := []int32{own}
	if imported != nil && imported.ForTest == "" && imported.membership != outside && w.unit.membership == workspace {
		keyed = append(keyed, w.packageKey(w.pathName(imported.path)))
	}
	w.declare(at, start, length, pkgName.Name(), "import", spec)
	keys, asks := w.table.list(keyed...), w.table.list(own)
	if spec.Name == nil {
		w.add(start, length, roleDeclaration|roleImport|roleInexact, resolution{defs, keys, asks, -1})
		return
	}
	roles := roleDeclaration | roleImport | inexact(spec.Name, pkgName)
	w.add(start, length, roles, resolution{w.table.list(w.table.target(at)), keys, asks, -1})
	w.add(spec.Path.Pos(), len(spec.Path.Value), roleImport|roleInexact, resolution{defs, noList, asks, -1})
}

func (r *recorder) packageKey(path string) int32 {
	k := r.table.name(r.view.prefix + "package " + path)
	if r.platformNames != nil {
		r.notes.names = append(r.notes.names, symbolName{k, "package " + path})
	}
	return k
}

// packageFiles is the definition of an import path: the package clause of every file.
func (r *recorder) packageFiles(u *unit) int32 {
	var ids []int32
	for _, file := range u.files {
		if at, ok := r.clauses.Load(file); ok {
			ids = append(ids, r.table.target(at.(target)))
		}
	}
	if len(ids) == 0 {
		ids = append(ids, r.table.name(r.cleanPath(u.PkgPath)))
	}
	return r.table.list(ids...)
}

func inexact(id *ast.Ident, obj types.Object) int32 {
	if id.Name != obj.Name() {
		return roleInexact
	}
	return 0
}

func kindOf(obj types.Object, inField bool) string {
	switch obj := obj.(type) {
	case *types.PkgName:
		return "import"
	case *types.Const:
		return "constant"
	case *types.Label:
		return "label"
	case *types.Func:
		if obj.Signature().Recv() != nil {
			return "method"
		}
		return "function"
	case *types.TypeName:
		return typeKind(obj)
	case *types.Var:
		if obj.IsField() {
			return "field"
		}
		if inField {
			return "parameter"
		}
	}
	return "variable"
}

func typeKind(obj *types.TypeName) string {
	if _, ok := obj.Type().(*types.TypeParam); ok {
		return "type_parameter"
	}
	if obj.IsAlias() {
		return "type_alias"
	}
	switch obj.Type().Underlying().(type) {
	case *types.Struct:
		return "struct"
	case *types.Interface:
		return "interface"
	}
	return "class"
}

// assembly names the definition of a function without a body in an assembly file; "" when there is none.
func assembly(u *unit, name string) string {
	for _, file := range u.OtherFiles {
		if strings.HasSuffix(file, ".s") {
			return "asm " + u.PkgPath + "#" + name
		}
	}
	return ""
}
