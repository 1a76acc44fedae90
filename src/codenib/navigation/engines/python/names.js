"use strict";
// A file's parse tree in, its declarations (nodes) and its name tokens with their roles out. Starts no type evaluation
// except for calls that make classes out of strings.

const ROLE = { declaration: 1, import: 2, call: 4, type: 8, write: 16, inherit: 32, inexact: 64 };
// Names of callables whose string arguments the engine reads as types or as members.
const STRING_READERS = new Set(["cast", "TypeVar", "NewType", "TypeAliasType", "ParamSpec", "TypeVarTuple"]);
const ENUMS = ["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"];
const CLASS_MAKERS = new Set(["namedtuple", "NamedTuple", "TypedDict", ...ENUMS]);
// The engine's kinds of declarations.
const DECL = {
    intrinsic: 0,
    variable: 1,
    param: 2,
    typeParam: 3,
    typeAlias: 4,
    function: 5,
    class: 6,
    special: 7,
    alias: 8,
};

class Walker {
    constructor(inner) {
        this.types = inner("parser/parseNodeUtils").ParseNodeTypeMap;
        this.info = inner("analyzer/analyzerNodeInfo");
        this.childrenOf = inner("analyzer/parseTreeWalker").getChildNodes;
        this.parsed = inner("parser/parseNodes").getParserStringAnnotation;
        const t = this.types;
        this.scoped = new Set([t.Module, t.Class, t.Function, t.Lambda, t.Comprehension, t.TypeParameterList]);
    }

    // All names (with roles), declarations, classes and strings that stand for names, in tree order.
    // `settled` holds the starts of strings that other files made the engine read as types.
    walk(tree, resolver, attempt, settled) {
        const { reader } = resolver;
        this.reader = reader;
        this.settled = settled;
        this.evaluate = (ask) => attempt(() => ask(resolver.evaluator));
        this.annotation = (node) => this.info.getStringAnnotation(node, reader);
        this.found = { names: [], declarations: [], classes: [] };
        this.loose = false;
        this.visit(tree, 0);
        const all = this.info.getDunderAllInfo(tree, reader);
        this.found.exported = all ? all.stringNodes : [];
        return this.found;
    }

    visit(node, roles) {
        const t = this.types;
        if (node.nodeType === t.Name) {
            this.found.names.push([node, roles | this.roleOf(node), this.loose]);
            return;
        }
        if (node.nodeType === t.StringList && this.annotation(node) && !this.parsed(node)) {
            this.visitLoose(node, roles);
            return;
        }
        if (this.scoped.has(node.nodeType)) {
            this.declarationsIn(this.info.getScope(node, this.reader)?.symbolTable, node);
        }
        if (node.nodeType === t.Call) {
            this.readStrings(node);
        } else if (node.nodeType === t.Assignment && node.d.rightExpr.nodeType === t.Index) {
            this.readAlias(node.d.rightExpr);
        } else if (node.nodeType === t.Class) {
            this.readBases(node);
            this.found.classes.push(node);
        }
        for (const child of this.childrenOf(node, this.annotation)) {
            if (child) {
                this.visit(child, roles | this.added(node, child));
            }
        }
    }

    // A string that only evaluation shows to be a type: known when something in another file needed it, else only in
    // files that the server has checked.
    visitLoose(node, roles) {
        const before = this.loose;
        this.loose ||= !this.settled.has(node.start);
        this.visit(this.annotation(node), roles | ROLE.type);
        this.loose = before;
    }

    // The starts of the strings that evaluation has shown to be types until now.
    evaluatedIn(tree, reader, found = new Set()) {
        const annotation = (node) => this.info.getStringAnnotation(node, reader);
        const look = (node) => {
            if (node.nodeType === this.types.StringList && annotation(node) && !this.parsed(node)) {
                found.add(node.start);
            } else if (node.nodeType !== this.types.Name) {
                this.childrenOf(node, this.parsed).forEach((child) => child && look(child));
            }
        };
        look(tree);
        return found;
    }

    isInFunction(node) {
        const t = this.types;
        let up = node.parent;
        while (up && up.nodeType !== t.Function && up.nodeType !== t.Lambda) {
            up = up.parent;
        }
        return !!up;
    }

    calleeOf(call) {
        const t = this.types;
        const callee = call.d.leftExpr.nodeType === t.MemberAccess ? call.d.leftExpr.d.member : call.d.leftExpr;
        return callee.nodeType === t.Name ? callee.d.value : "";
    }

    // `Handler = Callable[["Request"], None]` outside functions.
    readAlias(index) {
        if (this.holdsString(index) && !this.isInFunction(index)) {
            this.evaluate((evaluator) => evaluator.getTypeResult(index));
        }
    }

    // `class Node(Base["Node"])`
    readBases(node) {
        const t = this.types;
        if (node.d.arguments.some((a) => a.d.valueExpr.nodeType === t.Index && this.holdsString(a.d.valueExpr))) {
            this.evaluate((evaluator) => evaluator.getTypeOfClass(node));
        }
    }

    holdsString(node) {
        if (node.nodeType === this.types.StringList) {
            return true;
        }
        return this.childrenOf(node, this.annotation).some((child) => child && this.holdsString(child));
    }

    declarationsIn(table, scopeNode) {
        for (const [name, symbol] of table ?? []) {
            for (const declaration of symbol.getDeclarations()) {
                if (declaration.node && declaration.type !== DECL.intrinsic) {
                    this.found.declarations.push([name, declaration, scopeNode]);
                }
            }
        }
    }

    // `cast("Name", x)` and `namedtuple("P", "x y")`: evaluation reveals the names that the strings hold.
    readStrings(call) {
        const name = this.calleeOf(call);
        const makes = CLASS_MAKERS.has(name);
        if (!makes && !STRING_READERS.has(name)) {
            return;
        }
        const type = this.evaluate((evaluator) => evaluator.getTypeResult(call))?.type;
        if (makes && type?.shared?.fields) {
            this.declarationsIn(new Map([...type.shared.fields].filter(([, s]) => this.isString(s))), call);
        }
    }

    isString(symbol) {
        return symbol.getDeclarations().some((d) => d.node?.nodeType === this.types.StringList);
    }

    // The roles that every name below `child` gets because of where `child` is in `node`.
    added(node, child) {
        const t = this.types;
        const d = node.d;
        switch (node.nodeType) {
            case t.Import:
            case t.ImportFrom:
                return ROLE.import;
            case t.Class:
                return d.arguments.includes(child) && !child.d.name ? ROLE.inherit : 0;
            case t.Parameter:
                return child === d.annotation || child === d.annotationComment ? ROLE.type : 0;
            case t.Function:
                return child === d.returnAnnotation || child === d.funcAnnotationComment ? ROLE.type : 0;
            case t.TypeAnnotation:
                return child === d.annotation ? ROLE.type : 0;
            case t.Assignment:
                return child === d.annotationComment ? ROLE.type : 0;
            case t.StringList:
                return child === this.parsed(node) ? ROLE.type : 0;
            default:
                return 0;
        }
    }

    roleOf(node) {
        const t = this.types;
        let whole = node;
        if (node.parent.nodeType === t.MemberAccess && node.parent.d.member === node) {
            whole = node.parent;
        }
        const parent = whole.parent;
        if (parent.nodeType === t.Call && parent.d.leftExpr === whole) {
            return ROLE.call;
        }
        return this.isTarget(whole) ? ROLE.write : 0;
    }

    isTarget(node) {
        const t = this.types;
        const parent = node.parent;
        switch (parent?.nodeType) {
            case t.Assignment:
            case t.AugmentedAssignment:
                return parent.d.leftExpr === node;
            case t.AssignmentExpression:
                return parent.d.name === node;
            case t.For:
            case t.ComprehensionFor:
                return parent.d.targetExpr === node;
            case t.WithItem:
                return parent.d.target === node;
            case t.TypeAnnotation:
                return parent.d.valueExpr === node && this.isTarget(parent);
            case t.Tuple:
            case t.List:
            case t.Unpack:
                return this.isTarget(parent);
            default:
                return false;
        }
    }
}

module.exports = { Walker, ROLE, DECL };
