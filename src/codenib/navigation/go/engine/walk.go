package main

// One file's syntax tree in source order: every identifier becomes an occurrence, every declaration a node.

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

type walker struct {
	*recorder
	tree       *ast.File
	file       *token.File
	facts      *fileFacts
	roles      map[*ast.Ident]int32
	stack      []ast.Node
	containers []container
	declared   map[target]int32 // selection start → node
	switchVars map[*ast.Ident]bool
	typeNodes  map[string]int32
}

type container struct {
	syntax ast.Node
	node   int32
}

func (w *walker) walk() {
	w.declared = map[target]int32{}
	w.switchVars = map[*ast.Ident]bool{}
	w.typeNodes = map[string]int32{}
	w.packageClause()
	for _, decl := range w.tree.Decls {
		ast.Inspect(decl, w.visit)
	}
	w.docLinks()
	slices.SortFunc(w.facts.occurrences, func(a, b occurrence) int {
		if a.line != b.line {
			return int(a.line - b.line)
		}
		return int(a.col - b.col)
	})
}

func (w *walker) packageClause() {
	name := w.tree.Name
	at, _ := w.place(name.Pos())
	w.declare(at, name.Pos(), len(name.Name), name.Name, "namespace", w.clause())
	key := w.table.list(w.packageKey(w.pathName(w.unit.path)))
	defs := w.documented
	if defs == noList {
		defs = w.table.list(w.table.target(at))
	}
	w.add(name.Pos(), len(name.Name), roleDeclaration, resolution{defs, key, noList, -1})
}

type span struct{ from, to token.Pos }

func (s span) Pos() token.Pos { return s.from }
func (s span) End() token.Pos { return s.to }

func (w *walker) clause() ast.Node { return span{w.tree.Package, w.tree.Name.End()} }

func (w *walker) visit(n ast.Node) bool {
	if n == nil {
		top := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if last := len(w.containers) - 1; last >= 0 && w.containers[last].syntax == top {
			w.containers = w.containers[:last]
		}
		return true
	}
	switch n := n.(type) {
	case *ast.CommentGroup:
		return false
	case *ast.ImportSpec:
		w.importSpec(n)
		return false
	case *ast.FuncDecl:
		w.openContainer(n, w.declareName(n.Name, n))
	case *ast.TypeSpec:
		w.openContainer(n, w.declareName(n.Name, w.declarationOf(n)))
	case *ast.ValueSpec:
		w.declareNames(n, n.Names, w.declarationOf(n))
	case *ast.Field:
		w.declareNames(n, n.Names, n)
		w.embedded(n)
	case *ast.CallExpr:
		w.addRole(callee(n.Fun), roleCall)
		w.notes.satisfies = w.notes.satisfies || w.convertsToInterface(n.Fun)
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			w.addRole(assignedIdent(lhs), roleWrite)
		}
	case *ast.IncDecStmt:
		w.addRole(assignedIdent(n.X), roleWrite)
	case *ast.RangeStmt:
		w.addRole(assignedIdent(n.Key), roleWrite)
		w.addRole(assignedIdent(n.Value), roleWrite)
	case *ast.TypeSwitchStmt:
		w.typeSwitch(n)
	case *ast.Ident:
		w.ident(n)
	}
	w.stack = append(w.stack, n)
	return true
}

// convertsToInterface reports whether a call may be a conversion to an interface with methods, whose result has no type where
// the operand lacks one of them.
func (w *walker) convertsToInterface(fun ast.Expr) bool {
	id := callee(fun)
	if id == nil {
		paren, ok := fun.(*ast.ParenExpr)
		if ok {
			_, ok = paren.X.(*ast.InterfaceType)
		}
		return ok
	}
	t, ok := w.info.Uses[id].(*types.TypeName)
	if !ok {
		return false
	}
	i, ok := t.Type().Underlying().(*types.Interface)
	return ok && i.NumMethods() > 0
}

func (w *walker) addRole(id *ast.Ident, role int32) {
	if id != nil {
		w.roles[id] |= role
	}
}

// callee is the identifier that names what is called.
func callee(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			return x.Sel
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// assignedIdent is the variable or field that an assignment to e changes.
func assignedIdent(e ast.Expr) *ast.Ident {
	switch x := e.(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	case *ast.ParenExpr:
		return assignedIdent(x.X)
	}
	return nil
}

// typeSwitch notes the variable of `switch v := x.(type)`, which every clause declares anew.
func (w *walker) typeSwitch(n *ast.TypeSwitchStmt) {
	assign, ok := n.Assign.(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 {
		return
	}
	id, ok := assign.Lhs[0].(*ast.Ident)
	if !ok {
		return
	}
	for _, clause := range n.Body.List {
		if w.info.Implicits[clause] != nil {
			w.switchVars[id] = true
		}
	}
}

func (w *walker) openContainer(n ast.Node, node int32) {
	if node >= 0 {
		w.containers = append(w.containers, container{n, node})
	}
}

func (w *walker) declareNames(n ast.Node, names []*ast.Ident, whole ast.Node) {
	first := int32(-1)
	for _, id := range names {
		if node := w.declareName(id, whole); first < 0 {
			first = node
		}
	}
	w.openContainer(n, first)
}

// declarationOf is the extent of a spec: the spec itself in a group, else the declaration with its keyword.
func (w *walker) declarationOf(spec ast.Node) ast.Node {
	if len(w.stack) > 0 {
		if decl, ok := w.stack[len(w.stack)-1].(*ast.GenDecl); ok && !decl.Lparen.IsValid() {
			return decl
		}
	}
	return spec
}

// declareName adds the node of a declared identifier and returns its number, or -1 when nothing is declared.
func (w *walker) declareName(id *ast.Ident, whole ast.Node) int32 {
	obj := w.info.Defs[id]
	if obj == nil && !w.switchVars[id] {
		return -1
	}
	at, _ := w.place(id.Pos())
	if node, ok := w.declared[at]; ok {
		return node
	}
	kind := "variable"
	if obj != nil {
		_, inField := whole.(*ast.Field)
		kind = kindOf(obj, inField)
	}
	node := w.declare(at, id.Pos(), len(id.Name), id.Name, kind, whole)
	if t, ok := obj.(*types.TypeName); ok && t.Parent() == w.pkg.Scope() {
		w.typeNodes[id.Name] = node
	}
	if fn, ok := obj.(*types.Func); ok && kind == "method" && len(w.containers) == 0 {
		if owner, ok := w.typeNodes[typeName(fn.Signature().Recv().Type())]; ok {
			w.facts.nodes[node].parent = owner
		}
	}
	return node
}

func (w *walker) declare(at target, pos token.Pos, length int, name, kind string, whole ast.Node) int32 {
	n := node{name: name, kind: kind, parent: -1, selLine: at.line, selCol: at.col, selEnd: at.col + int32(length)}
	n.local = w.inFunction(whole) || kind == "parameter" || kind == "label"
	if last := len(w.containers) - 1; last >= 0 {
		n.parent = w.containers[last].node
	}
	from, to := w.file.PositionFor(whole.Pos(), false), w.file.PositionFor(whole.End(), false)
	n.line, n.col, n.endLine, n.endCol = int32(from.Line-1), int32(from.Column-1), int32(to.Line-1), int32(to.Column-1)
	index := int32(len(w.facts.nodes))
	w.facts.nodes = append(w.facts.nodes, n)
	w.declared[at] = index
	return index
}

func (w *walker) inFunction(whole ast.Node) bool {
	for _, n := range w.stack {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return n != whole
		}
	}
	return false
}

// enclosing is the extent of a name that is declared inside a statement or field (x := …, a label, an embedded field).
func (w *walker) enclosing(id *ast.Ident) ast.Node {
	for i := len(w.stack) - 1; i >= 0; i-- {
		switch n := w.stack[i].(type) {
		case *ast.AssignStmt, *ast.Field, *ast.LabeledStmt, *ast.TypeSpec, *ast.ValueSpec:
			return n
		case *ast.BlockStmt, *ast.RangeStmt, *ast.FuncDecl, *ast.FuncLit:
			return id
		}
	}
	return id
}

// embedded records the inherit relation between a type and the types that it embeds.
func (w *walker) embedded(field *ast.Field) {
	if len(field.Names) > 0 || len(w.stack) < 2 {
		return
	}
	owner := w.stack[len(w.stack)-2]
	if _, ok := owner.(*ast.StructType); !ok {
		if _, ok := owner.(*ast.InterfaceType); !ok {
			return
		}
	}
	base := field.Type
	if star, ok := base.(*ast.StarExpr); ok {
		base = star.X
	}
	id := callee(base)
	if id == nil {
		return
	}
	w.addRole(id, roleInherit)
	if len(w.stack) < 3 {
		return
	}
	spec, ok := w.stack[len(w.stack)-3].(*ast.TypeSpec)
	if used := w.info.Uses[id]; ok && used != nil && w.info.Defs[spec.Name] != nil {
		w.facts.relations = append(w.facts.relations, relation{"inherit", w.definition(w.info.Defs[spec.Name]), w.definition(used)})
	}
}

func (w *walker) ident(id *ast.Ident) {
	def, use := w.info.Defs[id], w.info.Uses[id]
	roles := w.roles[id]
	switch {
	case def != nil:
		w.declareName(id, w.enclosing(id))
		key := w.keyOf(def)
		keys, defs := []int32{key}, w.table.list(key)
		if at, ok := w.place(id.Pos()); ok {
			defs = w.table.list(w.table.target(at))
		}
		if fn, ok := def.(*types.Func); ok {
			if fn.Signature().Recv() != nil {
				w.noteMethod(key, fn)
			}
			if decl, ok := w.top().(*ast.FuncDecl); ok && decl.Name == id && decl.Body == nil {
				defs = noList
				if name := assembly(w.unit, id.Name); name != "" {
					defs = w.table.list(w.table.name(name))
				}
			}
		}
		if use != nil { // an embedded field: a field and the use of a type
			of := w.use(id, use)
			defs, keys, roles = of.defs, append(keys, w.table.items(of.keys)...), roles|roleType
		}
		resolved := resolution{defs, w.table.list(keys...), w.table.list(key), -1}
		w.add(id.Pos(), len(id.Name), roles&^roleWrite|roleDeclaration, resolved)
	case w.switchVars[id]:
		w.declareName(id, w.enclosing(id))
		at, _ := w.place(id.Pos())
		own := w.table.list(w.switchKey(at, id))
		w.add(id.Pos(), len(id.Name), roleDeclaration, resolution{w.table.list(w.table.target(at)), own, noList, -1})
	case use != nil:
		resolved := w.use(id, use)
		if _, ok := use.(*types.TypeName); ok {
			roles = roles&^roleCall | roleType
		}
		w.add(id.Pos(), len(id.Name), roles|inexact(id, use), resolved)
	}
}

// switchKey is the key of a type switch's variable: the variables of all clauses are declared at the name in the header.
func (w *walker) switchKey(at target, id *ast.Ident) int32 {
	if w.viewOf[at.file] == w.view.index {
		return w.table.target(at)
	}
	return w.table.name(w.view.prefix + w.pathName(w.unit.path) + "#" + id.Name)
}

func (w *walker) top() ast.Node {
	if len(w.stack) == 0 {
		return nil
	}
	return w.stack[len(w.stack)-1]
}

func (w *walker) add(pos token.Pos, length int, roles int32, of resolution) {
	p := w.file.PositionFor(pos, false)
	line, col := int32(p.Line-1), int32(p.Column-1)
	if of.asks == of.keys {
		of.asks = noList
	}
	w.facts.occurrences = append(w.facts.occurrences, occurrence{line, col, col + int32(length), roles, of.defs, of.keys, of.asks, of.method})
}
