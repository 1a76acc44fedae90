package javafacts;

import static javafacts.FileFacts.CALL;
import static javafacts.FileFacts.INEXACT;
import static javafacts.FileFacts.INHERIT;
import static javafacts.FileFacts.KEYWORD;
import static javafacts.FileFacts.TYPE;
import static javafacts.FileFacts.WRITE;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javafacts.Symbols.Symbol;
import org.eclipse.jdt.internal.compiler.GenericAstVisitor;
import org.eclipse.jdt.internal.compiler.ast.ASTNode;
import org.eclipse.jdt.internal.compiler.ast.AbstractMethodDeclaration;
import org.eclipse.jdt.internal.compiler.ast.AbstractVariableDeclaration;
import org.eclipse.jdt.internal.compiler.ast.AllocationExpression;
import org.eclipse.jdt.internal.compiler.ast.Assignment;
import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;
import org.eclipse.jdt.internal.compiler.ast.ExplicitConstructorCall;
import org.eclipse.jdt.internal.compiler.ast.Expression;
import org.eclipse.jdt.internal.compiler.ast.FieldReference;
import org.eclipse.jdt.internal.compiler.ast.ImportReference;
import org.eclipse.jdt.internal.compiler.ast.JavadocAllocationExpression;
import org.eclipse.jdt.internal.compiler.ast.JavadocFieldReference;
import org.eclipse.jdt.internal.compiler.ast.JavadocImplicitTypeReference;
import org.eclipse.jdt.internal.compiler.ast.MemberValuePair;
import org.eclipse.jdt.internal.compiler.ast.MessageSend;
import org.eclipse.jdt.internal.compiler.ast.ModuleDeclaration;
import org.eclipse.jdt.internal.compiler.ast.QualifiedAllocationExpression;
import org.eclipse.jdt.internal.compiler.ast.QualifiedNameReference;
import org.eclipse.jdt.internal.compiler.ast.QualifiedTypeReference;
import org.eclipse.jdt.internal.compiler.ast.ReferenceExpression;
import org.eclipse.jdt.internal.compiler.ast.SingleNameReference;
import org.eclipse.jdt.internal.compiler.ast.SingleTypeReference;
import org.eclipse.jdt.internal.compiler.ast.SuperReference;
import org.eclipse.jdt.internal.compiler.ast.ThisReference;
import org.eclipse.jdt.internal.compiler.ast.TypeDeclaration;
import org.eclipse.jdt.internal.compiler.ast.TypeReference;
import org.eclipse.jdt.internal.compiler.lookup.Binding;
import org.eclipse.jdt.internal.compiler.lookup.FieldBinding;
import org.eclipse.jdt.internal.compiler.lookup.LocalVariableBinding;
import org.eclipse.jdt.internal.compiler.lookup.MethodBinding;
import org.eclipse.jdt.internal.compiler.lookup.ReferenceBinding;
import org.eclipse.jdt.internal.compiler.lookup.TypeBinding;

/** The resolved tree of a file in, its declarations and occurrences out. */
final class Walker extends GenericAstVisitor {
    private final FileFacts facts;
    private final Symbols symbols;
    private final TypeNames names;
    private final Declarations declarations;
    /** What the parent of a reference says of it: roles of a type's name or of a variable. */
    private final Map<ASTNode, Integer> rolesOf = new IdentityHashMap<>();

    /** The call that a type's name stands for. */
    private final Map<TypeReference, AllocationExpression> created = new IdentityHashMap<>();

    private final Set<TypeBinding> noted = java.util.Collections.newSetFromMap(new IdentityHashMap<>());

    Walker(FileFacts facts, Symbols symbols, Resolver resolver) {
        this.facts = facts;
        this.names = resolver.names;
        this.symbols = symbols;
        this.declarations = new Declarations(facts, symbols, resolver.environment);
    }

    void walk(CompilationUnitDeclaration unit) {
        if (unit.imports != null) {
            Imports imports = new Imports(this, symbols, unit.scope);
            for (ImportReference each : unit.imports) {
                imports.add(each);
            }
        }
        if (unit.moduleDeclaration != null) {
            Imports.addModule(this, unit.moduleDeclaration, names);
            return;
        }
        unit.traverse(this, unit.scope, false);
    }

    @Override
    protected boolean visitNode(ASTNode node) {
        if (node instanceof Expression expression && expression.resolvedType != null) {
            note(expression.resolvedType);
        }
        if (node instanceof TypeDeclaration type) {
            return enterType(type);
        } else if (node instanceof AbstractMethodDeclaration method) {
            return declarations.enterMethod(method);
        } else if (node instanceof AbstractVariableDeclaration variable) {
            declarations.enterVariable(variable);
        } else if (node instanceof ImportReference || node instanceof ModuleDeclaration) {
            return false;
        } else if (node instanceof TypeReference type) {
            visitType(type);
        } else {
            visitUse(node);
        }
        return true;
    }

    private void visitUse(ASTNode node) {
        if (node instanceof MessageSend call) {
            note(call.binding);
            int role = isInComment(call) ? 0 : CALL;
            use(call.selector, (int) (call.nameSourcePosition >>> 32), role, symbols.method(call.binding));
        } else if (node instanceof AllocationExpression creation) {
            visitCreation(creation);
        } else if (node instanceof ExplicitConstructorCall call) {
            visitConstructorCall(call);
        } else if (node instanceof ReferenceExpression reference) {
            visitMethodReference(reference);
        } else if (node instanceof FieldReference field) {
            visitField(field);
        } else if (node instanceof SingleNameReference name) {
            use(name.token, name.sourceStart, roles(name), variable(name.binding));
        } else if (node instanceof QualifiedNameReference name) {
            visitQualified(name);
        } else if (node instanceof MemberValuePair pair) {
            use(pair.name, pair.sourceStart, 0, symbols.method(pair.binding));
        } else if (node instanceof Assignment assignment) {
            rolesOf.put(assignment.lhs, WRITE);
        } else if (node instanceof ThisReference word && !word.isImplicitThis()) {
            visitKeyword(word);
        }
    }

    private boolean enterType(TypeDeclaration type) {
        for (TypeReference base : Declarations.bases(type)) {
            rolesOf.put(base, INHERIT | TYPE);
        }
        note(type.binding);
        return declarations.enterType(type);
    }

    private void visitCreation(AllocationExpression creation) {
        note(creation.binding);
        if (creation instanceof JavadocAllocationExpression comment) {
            Symbol symbol = symbols.method(comment.binding);
            if (comment.type instanceof SingleTypeReference type && comment.memberStart > comment.type.sourceStart) {
                use(type.token, comment.memberStart, 0, symbol);
            }
        } else if (creation.type != null) {
            created.put(creation.type, creation);
        }
    }

    private void visitConstructorCall(ExplicitConstructorCall call) {
        if (!call.isImplicitSuper()) {
            String word = call.accessMode == ExplicitConstructorCall.This ? "this" : "super";
            int at = facts.source.find(word.toCharArray(), call.sourceStart, call.sourceEnd);
            Symbol symbol = symbols.method(call.binding);
            note(call.binding);
            if (at >= 0 && symbol != null) {
                facts.add(at, word.length(), CALL | INEXACT, List.of(symbol.target()), List.of(symbol.target()));
            }
        }
    }

    private void visitMethodReference(ReferenceExpression reference) {
        MethodBinding method = reference.getMethodBinding();
        note(method);
        if (reference.isConstructorReference()) {
            Symbol symbol = symbols.method(method);
            if (symbol != null && !reference.isArrayConstructorReference()) {
                List<Target> target = List.of(symbol.target());
                facts.add(reference.nameSourceStart, 3, CALL | INEXACT, target, target);
            }
        } else {
            use(reference.selector, reference.nameSourceStart, CALL, symbols.method(method));
        }
    }

    private void visitField(FieldReference field) {
        Symbol symbol = symbols.field(field.binding);
        if (field instanceof JavadocFieldReference comment && comment.methodBinding != null) {
            symbol = symbols.method(comment.methodBinding);
        }
        int start = (int) (field.nameSourcePosition >>> 32);
        if (symbol == null
                && field instanceof JavadocFieldReference
                && Symbols.declared(field.receiver.resolvedType) instanceof ReferenceBinding type) {
            useAll(field.token, start, 0, Members.named(symbols, type, field.token, false)); // every overload
            return;
        }
        use(field.token, start, roles(field), symbol);
    }

    private void visitKeyword(ThisReference word) {
        Symbol symbol = symbols.type(word.resolvedType);
        String text = word instanceof SuperReference ? "super" : "this";
        int at = facts.source.find(text.toCharArray(), word.sourceStart, word.sourceEnd);
        if (symbol != null && at >= 0) {
            facts.add(at, text.length(), KEYWORD | INEXACT, List.of(symbol.target()), null);
        }
    }

    /** A dotted name: packages, then types, then a variable and fields of it. */
    private void visitQualified(QualifiedNameReference name) {
        Symbol[] found = new Symbol[name.tokens.length];
        int first = name.indexOfFirstFieldBinding;
        if (name.binding instanceof TypeBinding type) {
            enclosing(found, name.tokens, name.tokens.length - 1, type);
        } else if (name.binding instanceof FieldBinding || name.binding instanceof LocalVariableBinding) {
            if (first >= 1 && first <= found.length) {
                found[first - 1] = variable(name.binding);
                if (first > 1) {
                    enclosing(found, name.tokens, first - 2, name.actualReceiverType);
                }
            }
            for (int at = 0; name.otherBindings != null && at < name.otherBindings.length; at++) {
                if (first + at < found.length) {
                    found[first + at] = symbols.field(name.otherBindings[at]);
                }
            }
        }
        boolean inPackage = false;
        for (int at = found.length - 1; at >= 0; at--) {
            if (found[at] == null && (inPackage || at < found.length - 1 && found[at + 1] != null)) {
                inPackage = true; // what stands before a type is its package
                continue;
            }
            if (found[at] == null && names.isPackage(name.tokens, at + 1)) {
                break;
            }
            int role = at == found.length - 1 ? roles(name) : 0;
            use(name.tokens[at], (int) (name.sourcePositions[at] >>> 32), role, found[at]);
        }
    }

    /** The types of a dotted name, from its last one outwards. */
    private void enclosing(Symbol[] found, char[][] tokens, int last, TypeBinding type) {
        TypeBinding each = Symbols.declared(type);
        for (int at = last; at >= 0 && each != null; at--) {
            if (!java.util.Arrays.equals(each.sourceName(), tokens[at])) {
                return;
            }
            found[at] = symbols.type(each);
            each = each instanceof ReferenceBinding reference ? reference.enclosingType() : null;
        }
    }

    private void visitType(TypeReference type) {
        AllocationExpression creation = created.get(type);
        int roles = rolesOf.getOrDefault(type, TYPE);
        if (type instanceof QualifiedTypeReference qualified) {
            Symbol[] found = new Symbol[qualified.tokens.length];
            enclosing(found, qualified.tokens, found.length - 1, type.resolvedType);
            for (int at = found.length - 1; at >= 0; at--) {
                boolean last = at == found.length - 1;
                boolean isPackage = last && found[at] == null && names.isPackage(qualified.tokens, at + 1);
                if (last && !isPackage || found[at] != null) {
                    int start = (int) (qualified.sourcePositions[at] >>> 32);
                    typeName(qualified.tokens[at], start, last ? roles : TYPE, found[at], last ? creation : null);
                }
            }
        } else if (type instanceof SingleTypeReference single && !(type instanceof JavadocImplicitTypeReference)) {
            boolean isWord = isWordFor(single);
            if (!isWord) {
                int start = facts.source.find(single.token, type.sourceStart, type.sourceEnd);
                typeName(single.token, Math.max(start, 0), roles, symbols.type(type.resolvedType), creation);
            }
        }
    }

    /** Whether a type is written as a word of the language: `int`, `var`. */
    private static boolean isWordFor(SingleTypeReference type) {
        if (type.resolvedType != null && type.resolvedType.leafComponentType().isBaseType()) {
            return true;
        }
        String name = new String(type.token);
        return name.equals("var") || PRIMITIVES.contains(name);
    }

    private static final Set<String> PRIMITIVES =
            Set.of("int", "long", "short", "byte", "char", "boolean", "float", "double", "void", "null");

    private void typeName(char[] token, int start, int roles, Symbol symbol, AllocationExpression creation) {
        if (creation == null || symbol == null) {
            use(token, start, roles, symbol);
            return;
        }
        Symbol constructor = symbols.method(constructor(creation));
        boolean anonymous = creation instanceof QualifiedAllocationExpression inner && inner.anonymousType != null;
        int called = CALL | TYPE | (anonymous ? INHERIT : 0);
        TypeBinding type = Symbols.declared(creation.type.resolvedType);
        if (type != null && type.isInterface()) {
            use(token, start, called, symbol);
        } else if (constructor == null && !symbol.target().isOutside()) {
            facts.names++; // which of its constructors is not known
            facts.unresolved++;
            List<Target> keys = List.of(symbol.target(), Target.unresolved(new String(token)));
            facts.add(start, token.length, called, List.of(symbol.target()), keys);
        } else if (constructor == null || constructor.target().equals(symbol.target())) {
            use(token, start, called, symbol);
        } else {
            facts.names++;
            facts.add(
                    start,
                    token.length,
                    called,
                    List.of(constructor.target()),
                    List.of(constructor.target(), symbol.target()));
        }
    }

    /** The constructor that is called; for an anonymous class that of its superclass. */
    private MethodBinding constructor(AllocationExpression creation) {
        if (!(creation instanceof QualifiedAllocationExpression inner) || inner.anonymousType == null) {
            return creation.binding;
        }
        return Declarations.superConstructor(inner.anonymousType);
    }

    private Symbol variable(Binding binding) {
        if (binding instanceof LocalVariableBinding local) {
            if (local.declaration == null || !isWrittenAt(local.name, local.declaration.sourceStart)) {
                return local.declaringScope == null ? null : symbols.implied(local);
            }
            return new Symbol(Target.at(facts.source, local.declaration.sourceStart), true);
        }
        if (binding instanceof FieldBinding field) {
            return symbols.field(field);
        }
        return binding instanceof TypeBinding type ? symbols.type(type) : null;
    }

    private int roles(ASTNode node) {
        return rolesOf.getOrDefault(node, 0);
    }

    private boolean isWrittenAt(char[] name, int start) {
        return facts.source.find(name, start, start + name.length - 1) == start;
    }

    /** A name that is no declaration; without a symbol it is listed as not resolved. */
    void use(char[] name, int start, int roles, Symbol symbol) {
        if (start < 0 || name.length == 0 || facts.hasAt(start)) {
            return;
        }
        if (!isWrittenAt(name, start)) {
            return; // recovered from a broken text, or written with escapes
        }
        facts.names++;
        if (symbol == null) {
            facts.unresolved++;
            facts.add(start, name.length, roles, null, List.of(Target.unresolved(new String(name))));
            return;
        }
        int exact = symbol.named() ? 0 : INEXACT;
        facts.add(start, name.length, roles | exact, List.of(symbol.target()), List.of(symbol.target()));
    }

    /** A name that may stand for several declarations, in an import or a comment. */
    void useAll(char[] name, int start, int roles, List<Symbol> found) {
        List<Target> targets = new ArrayList<>();
        found.forEach(symbol -> targets.add(symbol.target()));
        if (targets.isEmpty()) {
            use(name, start, roles, null);
        } else if (!facts.hasAt(start) && isWrittenAt(name, start)) {
            facts.names++;
            facts.add(start, name.length, roles, targets, targets);
        }
    }

    /** An import of a type that is nowhere. */
    void miss(String name) {
        facts.missing.add(name);
    }

    private static boolean isInComment(ASTNode node) {
        return (node.bits & ASTNode.InsideJavadoc) != 0;
    }

    /** Remember on which files the types in this file's expressions depend. */
    void note(TypeBinding type) {
        if (type == null || !noted.add(type)) {
            return;
        }
        facts.typeFiles.addAll(symbols.files(type));
        TypeBinding[] arguments =
                type instanceof org.eclipse.jdt.internal.compiler.lookup.ParameterizedTypeBinding parameterized
                        ? parameterized.arguments
                        : null;
        if (arguments != null) {
            for (TypeBinding argument : arguments) {
                note(argument);
            }
        }
    }

    private void note(MethodBinding method) {
        if (method == null) {
            return;
        }
        note(method.declaringClass);
        note(method.returnType);
        for (TypeBinding parameter : method.original().parameters == null ? new TypeBinding[0] : method.original().parameters) {
            note(parameter);
        }
    }

    @Override
    public void endVisit(TypeDeclaration type, org.eclipse.jdt.internal.compiler.lookup.CompilationUnitScope scope) {
        declarations.leave(type);
    }

    @Override
    public void endVisit(TypeDeclaration type, org.eclipse.jdt.internal.compiler.lookup.ClassScope scope) {
        declarations.leave(type);
    }

    @Override
    public void endVisit(TypeDeclaration type, org.eclipse.jdt.internal.compiler.lookup.BlockScope scope) {
        declarations.leave(type);
    }

    @Override
    public void endVisit(
            org.eclipse.jdt.internal.compiler.ast.MethodDeclaration method,
            org.eclipse.jdt.internal.compiler.lookup.ClassScope scope) {
        declarations.leave(method);
    }

    @Override
    public void endVisit(
            org.eclipse.jdt.internal.compiler.ast.AnnotationMethodDeclaration method,
            org.eclipse.jdt.internal.compiler.lookup.ClassScope scope) {
        declarations.leave(method);
    }

    @Override
    public void endVisit(
            org.eclipse.jdt.internal.compiler.ast.ConstructorDeclaration method,
            org.eclipse.jdt.internal.compiler.lookup.ClassScope scope) {
        declarations.leave(method);
    }

    @Override
    public void endVisit(
            org.eclipse.jdt.internal.compiler.ast.FieldDeclaration field,
            org.eclipse.jdt.internal.compiler.lookup.MethodScope scope) {
        declarations.leave(field);
    }
}
