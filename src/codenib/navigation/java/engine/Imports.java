package javafacts;

import java.util.ArrayList;
import java.util.List;
import javafacts.Symbols.Symbol;
import org.eclipse.jdt.core.compiler.CharOperation;
import org.eclipse.jdt.internal.compiler.ast.ASTNode;
import org.eclipse.jdt.internal.compiler.ast.ImportReference;
import org.eclipse.jdt.internal.compiler.ast.ModuleDeclaration;
import org.eclipse.jdt.internal.compiler.ast.ProvidesStatement;
import org.eclipse.jdt.internal.compiler.ast.QualifiedTypeReference;
import org.eclipse.jdt.internal.compiler.ast.SingleTypeReference;
import org.eclipse.jdt.internal.compiler.ast.TypeReference;
import org.eclipse.jdt.internal.compiler.lookup.CompilationUnitScope;
import org.eclipse.jdt.internal.compiler.lookup.ReferenceBinding;

/** Imports and the types that a module names in, their occurrences out. Names of packages are none. */
final class Imports {
    private final Walker walker;
    private final Symbols symbols;
    private final CompilationUnitScope scope;

    Imports(Walker walker, Symbols symbols, CompilationUnitScope scope) {
        this.walker = walker;
        this.symbols = symbols;
        this.scope = scope;
    }

    void add(ImportReference reference) {
        boolean onDemand = (reference.bits & ASTNode.OnDemand) != 0;
        int last = reference.tokens.length - 1;
        if (reference.isStatic() && !onDemand) {
            ReferenceBinding type = type(reference.tokens, last);
            walker.useAll(reference.tokens[last], start(reference, last), FileFacts.IMPORT, Members.named(symbols, type, reference.tokens[last], true));
            addTypes(reference, last - 1, type);
            return;
        }
        ReferenceBinding type = type(reference.tokens, reference.tokens.length);
        if (type != null) {
            addTypes(reference, last, type);
        } else if (!onDemand || reference.isStatic()) {
            walker.use(reference.tokens[last], start(reference, last), FileFacts.IMPORT, null);
            walker.miss(Outline.joined(reference.tokens));
        }
    }

    private static int start(ImportReference reference, int token) {
        return (int) (reference.sourcePositions[token] >>> 32);
    }

    private void addTypes(ImportReference reference, int last, ReferenceBinding type) {
        if (type == null && last >= 0) {
            walker.use(reference.tokens[last], start(reference, last), FileFacts.IMPORT, null);
            walker.miss(Outline.joined(CharOperation.subarray(reference.tokens, 0, last + 1)));
        }
        ReferenceBinding each = type;
        for (int at = last; at >= 0 && each != null; at--) {
            walker.note(each);
            walker.use(reference.tokens[at], start(reference, at), FileFacts.IMPORT, symbols.type(each));
            each = each.enclosingType();
        }
    }

    /** The type of a qualified name of `count` tokens; null when there is none. */
    private ReferenceBinding type(char[][] tokens, int count) {
        if (scope == null) {
            return null;
        }
        ReferenceBinding found = null;
        int at = 0;
        while (found == null && at < count) {
            at++;
            found = scope.environment.getType(CharOperation.subarray(tokens, 0, at));
        }
        while (found != null && at < count) {
            found = found.getMemberType(tokens[at]);
            at++;
        }
        return found != null && found.isValidBinding() && symbols.type(found) != null ? found : null;
    }

    /** The services of a module; it is not resolved, as its modules may not be there. */
    static void addModule(Walker walker, ModuleDeclaration module, TypeNames names) {
        List<TypeReference> types = new ArrayList<>();
        for (int at = 0; at < module.usesCount; at++) {
            types.add(module.uses[at].serviceInterface);
        }
        for (int at = 0; at < module.servicesCount; at++) {
            ProvidesStatement service = module.services[at];
            types.add(service.serviceInterface);
            types.addAll(List.of(service.implementations));
        }
        for (TypeReference type : types) {
            if (type instanceof QualifiedTypeReference name) {
                int last = name.tokens.length - 1;
                char[][] around = CharOperation.subarray(name.tokens, 0, last);
                addService(walker, name.tokens[last], (int) (name.sourcePositions[last] >>> 32), around, names);
            } else if (type instanceof SingleTypeReference name) {
                addService(walker, name.token, name.sourceStart, new char[0][], names);
            }
        }
    }

    private static void addService(Walker walker, char[] name, int start, char[][] around, TypeNames names) {
        String text = new String(name);
        Source source = names.source(Outline.joined(around), text);
        Symbol symbol = null;
        if (source != null) {
            symbol = new Symbol(Target.at(source, source.outline.types.get(text)), true);
        } else if (names.findType(name, around) != null) {
            symbol = new Symbol(Target.outside(Outline.joined(around) + "." + text), true);
        }
        walker.use(name, start, FileFacts.TYPE, symbol);
    }
}
