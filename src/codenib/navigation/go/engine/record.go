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

// An occ is one name in a file; defs, keys and asks are list numbers of the table.
type occ struct {
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

// A fileRun is a file as one package variant sees it.
type fileRun struct {
	view      int
	pkg       int32
	width     int // number of files of the package: the narrowest variant answers
	answers   bool
	number    int64   // no two runs of an engine have the same
	keys      []int32 // what its occurrences are listed under, each once
	asks      []int32 // what they ask for, each once
	used      []int32 // the methods that it uses, each once
	occs      []occ
	nodes     []node
	relations []relation
}

// recorder holds what the files of one package share.
type recorder struct {
	*checker
	unit *unit
	info *types.Info
	pkg  *types.Package
	told *told
	seen map[int32]bool // methods that are noted
	used map[int32]bool
	keys map[types.Object]int32
	docs int32 // list of the file whose package clause carries the documentation, or noList
}

func (c *checker) record(u *unit, pkg *types.Package, trees []*ast.File, info *types.Info, told *told) {
	r := &recorder{checker: c, unit: u, pkg: pkg, told: told, info: info, docs: noList,
		keys: map[types.Object]int32{}, seen: map[int32]bool{}, used: map[int32]bool{}}
	for _, tree := range trees {
		if tree.Doc != nil && r.docs == noList {
			if at, ok := c.place(tree.Name.Pos()); ok {
				r.docs = c.table.list(c.table.target(at))
			}
		}
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
		w := &walker{recorder: r, tree: tree, roles: map[*ast.Ident]int32{}, file: c.fset.File(tree.FileStart),
			run: &fileRun{view: c.view.index, pkg: u.path, width: len(u.files), answers: home}}
		w.walk()
		if u.standing == mute {
			w.run.occs, w.run.relations = nil, nil
		}
		w.run.number = c.runNumber.Add(1)
		w.run.sumUp(c.table)
		told.runs = append(told.runs, placedRun{at.file, w.run})
	}
	if u.standing == workspace {
		told.types = candidates(u, pkg)
	}
}

// sumUp lists the keys and methods of the occurrences.
func (run *fileRun) sumUp(t *table) {
	lists := map[int32]bool{}
	add := func(into *[]int32, list, mark int32) {
		if list < 0 || lists[2*list+mark] {
			return
		}
		lists[2*list+mark] = true
		*into = append(*into, t.items(list)...)
	}
	for _, o := range run.occs {
		add(&run.keys, o.keys, 0)
		add(&run.asks, o.asks, 1)
		if o.method >= 0 {
			run.used = append(run.used, o.method)
		}
	}
	for _, all := range []*[]int32{&run.keys, &run.asks, &run.used} {
		slices.Sort(*all)
		*all = slices.Clip(slices.Compact(*all))
	}
}

func (r *recorder) note(key int32, fn *types.Func) {
	if !r.seen[key] {
		r.seen[key] = true
		r.told.notes = append(r.told.notes, noted{key, fn})
	}
}

func (r *recorder) keyOf(obj types.Object) int32 {
	k, ok := r.keys[obj]
	if !ok {
		k = r.key(obj)
		r.keys[obj] = k
		if r.twins != nil && nameable(obj) {
			name := r.stableName(obj)
			r.told.twins = append(r.told.twins, twinNote{k, name})
		}
	}
	return k
}

// use says what an identifier that uses obj answers and where it is listed.
func (r *recorder) use(id *ast.Ident, obj types.Object) (defs, keys, asks, method int32) {
	defs, keys, asks, method = r.table.list(r.definition(obj)), noList, noList, -1
	if !obj.Pos().IsValid() {
		return // a builtin: no references
	}
	k := r.keyOf(obj)
	local := obj.Pkg() == r.pkg
	instance := origin(obj) != obj
	_, field := obj.(*types.Var)
	switch {
	case local:
		keys = r.table.list(k)
	case !id.IsExported() || (field && instance) || r.unit.standing >= foreign:
		asks = r.table.list(k) // live's index of other packages leaves these out
	case r.unit.standing == orphan:
		own := r.table.name(r.view.prefix + "in " + r.pathName(r.unit.path) + ": " + r.stableName(obj))
		keys, asks = r.table.list(own), r.table.list(k, own)
	default:
		keys = r.table.list(k)
	}
	if instance && obj.Exported() {
		asks = r.localOnly(obj, k)
	}
	if fn, ok := obj.(*types.Func); ok && fn.Signature().Recv() != nil {
		r.note(k, fn.Origin())
		if keys != noList {
			method = k
			if (local || r.unit.standing == workspace) && !r.used[k] {
				r.used[k] = true
				r.told.uses = append(r.told.uses, k)
			}
		}
	}
	return
}

// localOnly is what an instantiated member asks: live searches its declaring package alone.
func (r *recorder) localOnly(obj types.Object, k int32) int32 {
	if _, ok := r.place(obj.Pos()); !ok {
		return r.table.list()
	}
	own := r.table.name(r.view.prefix + "local " + r.stableName(obj))
	pkg := r.pathNumber(r.cleanPath(obj.Pkg().Path()))
	r.told.locals = append(r.told.locals, localNote{k, own, pkg})
	return r.table.list(own)
}

// importSpec records an import: its name or path declares a name of the file, its path leads to the package's files.
func (w *walker) importSpec(spec *ast.ImportSpec) {
	path, _ := strconv.Unquote(spec.Path.Value)
	imported := w.unit.imports[path]
	w.told.imports++
	if imported == nil && path != "unsafe" && path != "C" {
		w.told.missing = append(w.told.missing, path)
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
		w.add(spec.Path.Pos(), len(spec.Path.Value), roleImport|roleInexact, defs, noList, noList, -1)
		return
	}
	at, _ := w.place(start)
	own := w.keyOf(pkgName)
	keys := []int32{own}
	if imported != nil && imported.ForTest == "" && imported.standing != outside && w.unit.standing == workspace {
		keys = append(keys, w.packageKey(w.pathName(imported.path)))
	}
	w.declare(at, start, length, pkgName.Name(), "import", spec)
	asks := w.table.list(own)
	if spec.Name == nil {
		w.add(start, length, roleDeclaration|roleImport|roleInexact, defs, w.table.list(keys...), asks, -1)
		return
	}
	roles := roleDeclaration | roleImport | inexact(spec.Name, pkgName)
	w.add(start, length, roles, w.table.list(w.table.target(at)), w.table.list(keys...), asks, -1)
	w.add(spec.Path.Pos(), len(spec.Path.Value), roleImport|roleInexact, defs, noList, asks, -1)
}

func (r *recorder) packageKey(path string) int32 {
	k := r.table.name(r.view.prefix + "package " + path)
	if r.twins != nil {
		r.told.twins = append(r.told.twins, twinNote{k, "package " + path})
	}
	return k
}

// packageFiles is what the definition of an import path answers: the package clause of every file.
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

// assembly reports whether a function without a body has its definition in an assembly file.
func assembly(u *unit, name string) string {
	for _, file := range u.OtherFiles {
		if strings.HasSuffix(file, ".s") {
			return "asm " + u.PkgPath + "#" + name
		}
	}
	return ""
}
