package javafacts;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javafacts.Symbols.Symbol;
import org.eclipse.jdt.internal.compiler.lookup.FieldBinding;
import org.eclipse.jdt.internal.compiler.lookup.MethodBinding;
import org.eclipse.jdt.internal.compiler.lookup.ReferenceBinding;

/** A type and a name in, all its members so called out: where a name stands for several at once. */
final class Members {
    private static final int DEEPEST = 64;

    private Members() {}

    /** Of the type and its supertypes where it is imported (`imported`: static ones), else of the nearest. */
    static List<Symbol> named(Symbols symbols, ReferenceBinding type, char[] name, boolean imported) {
        Set<Symbol> found = new LinkedHashSet<>();
        collect(symbols, type, name, imported, found, 0);
        found.remove(null);
        return List.copyOf(found);
    }

    private static void collect(
            Symbols symbols, ReferenceBinding type, char[] name, boolean imported, Set<Symbol> found, int depth) {
        if (type == null || depth > DEEPEST || !type.isValidBinding()) {
            return;
        }
        FieldBinding field = type.getField(name, true);
        if (field != null && (field.isStatic() || !imported)) {
            found.add(symbols.field(field));
        }
        for (MethodBinding method : type.getMethods(name)) {
            if (method.isStatic() || !imported) {
                found.add(symbols.method(method));
            }
        }
        ReferenceBinding member = imported ? type.getMemberType(name) : null;
        if (member != null) {
            found.add(symbols.type(member));
        }
        if (!found.isEmpty() && !imported) {
            return;
        }
        collect(symbols, type.superclass(), name, imported, found, depth + 1);
        for (ReferenceBinding each : Symbols.interfaces(type)) {
            collect(symbols, each, name, imported, found, depth + 1);
        }
    }
}
