package javafacts;

import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.eclipse.jdt.core.compiler.CharOperation;
import org.eclipse.jdt.internal.compiler.ast.ASTNode;
import org.eclipse.jdt.internal.compiler.ast.AbstractMethodDeclaration;
import org.eclipse.jdt.internal.compiler.ast.FieldDeclaration;
import org.eclipse.jdt.internal.compiler.ast.RecordComponent;
import org.eclipse.jdt.internal.compiler.ast.TypeDeclaration;
import org.eclipse.jdt.internal.compiler.ast.TypeParameter;
import org.eclipse.jdt.internal.compiler.lookup.Binding;
import org.eclipse.jdt.internal.compiler.lookup.FieldBinding;
import org.eclipse.jdt.internal.compiler.lookup.LocalVariableBinding;
import org.eclipse.jdt.internal.compiler.lookup.MethodBinding;
import org.eclipse.jdt.internal.compiler.lookup.MissingTypeBinding;
import org.eclipse.jdt.internal.compiler.lookup.ProblemMethodBinding;
import org.eclipse.jdt.internal.compiler.lookup.ProblemFieldBinding;
import org.eclipse.jdt.internal.compiler.lookup.ProblemReasons;
import org.eclipse.jdt.internal.compiler.lookup.ReferenceBinding;
import org.eclipse.jdt.internal.compiler.lookup.SourceTypeBinding;
import org.eclipse.jdt.internal.compiler.lookup.TypeBinding;
import org.eclipse.jdt.internal.compiler.lookup.TypeVariableBinding;

/** Bindings of one environment in, what stands for them in every file out. Nothing for what was not resolved. */
final class Symbols {
    /** `named`: the declaration has the name of the binding; an implicit constructor leads to its class. */
    record Symbol(Target target, boolean named) {}

    private final Map<Binding, Symbol> known = new IdentityHashMap<>();
    private final Map<ReferenceBinding, Set<String>> files = new IdentityHashMap<>();

    /** A type as it is declared: no array, no arguments; null for what is not resolved or primitive. */
    static TypeBinding declared(TypeBinding type) {
        if (type == null) {
            return null;
        }
        TypeBinding leaf = type.leafComponentType();
        if (!leaf.isValidBinding()) {
            leaf = leaf.closestMatch();
        }
        if (leaf == null || leaf.isBaseType()) {
            return null;
        }
        if (leaf instanceof TypeVariableBinding && !leaf.isCapture()) {
            return leaf;
        }
        TypeBinding erased = leaf.erasure();
        return erased instanceof ReferenceBinding && !(erased instanceof MissingTypeBinding) ? erased : null;
    }

    Symbol type(TypeBinding type) {
        TypeBinding declared = declared(type);
        return declared == null ? null : known.computeIfAbsent(declared, unused -> newType(declared));
    }

    private Symbol newType(TypeBinding type) {
        if (type instanceof TypeVariableBinding variable) {
            return variable(variable);
        }
        if (type instanceof SourceTypeBinding own && own.scope != null) {
            TypeDeclaration declaration = own.scope.referenceContext;
            return new Symbol(Target.at(source(declaration), nameOffset(declaration)), true);
        }
        return new Symbol(Target.outside(name((ReferenceBinding) type)), true);
    }

    private static Symbol variable(TypeVariableBinding variable) {
        TypeParameter[] parameters = null;
        Source source = null;
        if (variable.declaringElement instanceof SourceTypeBinding type && type.scope != null) {
            parameters = type.scope.referenceContext.typeParameters;
            source = source(type.scope.referenceContext);
        } else if (variable.declaringElement instanceof MethodBinding method) {
            AbstractMethodDeclaration declaration = method.original().sourceMethod();
            if (declaration != null) {
                parameters = declaration.typeParameters();
                source = (Source) declaration.compilationResult.compilationUnit;
            }
        }
        if (parameters == null || variable.rank >= parameters.length) {
            return new Symbol(Target.outside("type variable " + new String(variable.sourceName)), true);
        }
        return new Symbol(Target.at(source, parameters[variable.rank].sourceStart), true);
    }

    private static Source source(TypeDeclaration declaration) {
        return (Source) declaration.compilationResult.compilationUnit;
    }

    /** Where the name of a type is written; the brace of one that has none. */
    static int nameOffset(TypeDeclaration declaration) {
        return (declaration.bits & ASTNode.IsAnonymousType) != 0
                ? Math.max(declaration.bodyStart - 1, 0)
                : declaration.sourceStart;
    }

    private static String name(ReferenceBinding type) {
        char[] inner = type.qualifiedSourceName();
        char[] around = type.qualifiedPackageName();
        return new String(around.length == 0 ? inner : CharOperation.concat(around, inner, '.'));
    }

    Symbol method(MethodBinding method) {
        MethodBinding valid = valid(method);
        if (valid == null) {
            return null;
        }
        MethodBinding original = valid.original();
        return known.computeIfAbsent(original, unused -> newMethod(original));
    }

    /** The method that was meant, also where it may not be used there; null when none has fitting parameters. */
    static MethodBinding valid(MethodBinding method) {
        if (method == null || method.isValidBinding()) {
            return method;
        }
        boolean fits = method.problemId() != ProblemReasons.NotFound;
        return fits && method instanceof ProblemMethodBinding problem && problem.closestMatch != null
                ? valid(problem.closestMatch)
                : null;
    }

    private Symbol newMethod(MethodBinding method) {
        ReferenceBinding owner = method.declaringClass;
        if (!(owner instanceof SourceTypeBinding type) || type.scope == null) {
            return new Symbol(Target.outside(signature(method, owner)), true);
        }
        AbstractMethodDeclaration declaration = method.sourceMethod();
        TypeDeclaration around = type.scope.referenceContext;
        if (declaration != null && !declaration.isDefaultConstructor()) {
            return new Symbol(Target.at(source(around), declaration.sourceStart), true);
        }
        RecordComponent component = component(around, method.selector);
        if (component != null && method.parameters.length == 0) {
            return new Symbol(Target.at(source(around), component.sourceStart), true);
        }
        return new Symbol(type(type).target(), method.isConstructor());
    }

    private static String signature(MethodBinding method, ReferenceBinding owner) {
        StringBuilder out = new StringBuilder(owner == null ? "?" : name((ReferenceBinding) owner.erasure()));
        out.append('#').append(method.isConstructor() ? "new" : new String(method.selector)).append('(');
        for (int at = 0; at < method.parameters.length; at++) {
            out.append(at == 0 ? "" : ",").append(method.parameters[at].erasure().readableName());
        }
        return out.append(')').toString();
    }

    private static RecordComponent component(TypeDeclaration type, char[] name) {
        if (type.recordComponents != null) {
            for (RecordComponent each : type.recordComponents) {
                if (CharOperation.equals(each.name, name)) {
                    return each;
                }
            }
        }
        return null;
    }

    Symbol field(FieldBinding field) {
        if (field == null) {
            return null;
        }
        if (!field.isValidBinding()) {
            return field instanceof ProblemFieldBinding problem ? field(problem.closestMatch) : null;
        }
        FieldBinding original = field.original();
        return known.computeIfAbsent(original, unused -> newField(original));
    }

    private Symbol newField(FieldBinding field) {
        ReferenceBinding owner = field.declaringClass;
        String name = new String(field.name);
        if (!(owner instanceof SourceTypeBinding type) || type.scope == null) {
            return new Symbol(Target.outside((owner == null ? "array" : name(owner)) + "#" + name), true);
        }
        TypeDeclaration around = type.scope.referenceContext;
        FieldDeclaration declaration = field.sourceField();
        if (declaration != null) {
            return new Symbol(Target.at(source(around), declaration.sourceStart), true);
        }
        RecordComponent component = component(around, field.name);
        return component == null
                ? new Symbol(type(type).target(), false)
                : new Symbol(Target.at(source(around), component.sourceStart), true);
    }

    /** A parameter that a record's constructor has without writing it: the component. */
    Symbol implied(LocalVariableBinding local) {
        SourceTypeBinding type = local.declaringScope.enclosingSourceType();
        RecordComponent component =
                type == null || type.scope == null ? null : component(type.scope.referenceContext, local.name);
        return component == null
                ? null
                : new Symbol(Target.at(source(type.scope.referenceContext), component.sourceStart), true);
    }

    /** The files that declare a type and its supertypes. */
    Set<String> files(TypeBinding type) {
        if (!(declared(type) instanceof ReferenceBinding declared)) {
            return Set.of();
        }
        if (declared instanceof TypeVariableBinding variable) {
            return variable.firstBound == null ? Set.of() : files(variable.firstBound);
        }
        Set<String> found = files.get(declared);
        if (found == null) {
            found = new LinkedHashSet<>();
            files.put(declared, found); // also ends a hierarchy that leads back to itself
            if (declared instanceof SourceTypeBinding own && own.scope != null) {
                found.add(source(own.scope.referenceContext).path);
                found.addAll(files(own.enclosingType()));
            }
            found.addAll(files(declared.superclass()));
            for (ReferenceBinding each : interfaces(declared)) {
                found.addAll(files(each));
            }
        }
        return found;
    }

    static ReferenceBinding[] interfaces(ReferenceBinding type) {
        ReferenceBinding[] found = type.superInterfaces();
        return found == null ? new ReferenceBinding[0] : found;
    }
}
