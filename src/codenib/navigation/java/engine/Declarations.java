package javafacts;

import static javafacts.FileFacts.DECLARATION;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javafacts.FileFacts.Node;
import javafacts.Symbols.Symbol;
import org.eclipse.jdt.internal.compiler.ast.ASTNode;
import org.eclipse.jdt.internal.compiler.ast.AbstractMethodDeclaration;
import org.eclipse.jdt.internal.compiler.ast.AbstractVariableDeclaration;
import org.eclipse.jdt.internal.compiler.ast.Argument;
import org.eclipse.jdt.internal.compiler.ast.ConstructorDeclaration;
import org.eclipse.jdt.internal.compiler.ast.FieldDeclaration;
import org.eclipse.jdt.internal.compiler.ast.Initializer;
import org.eclipse.jdt.internal.compiler.ast.RecordComponent;
import org.eclipse.jdt.internal.compiler.ast.TypeDeclaration;
import org.eclipse.jdt.internal.compiler.ast.TypeParameter;
import org.eclipse.jdt.internal.compiler.ast.TypeReference;
import org.eclipse.jdt.internal.compiler.classfmt.ClassFileConstants;
import org.eclipse.jdt.internal.compiler.lookup.LookupEnvironment;
import org.eclipse.jdt.internal.compiler.lookup.MethodBinding;
import org.eclipse.jdt.internal.compiler.lookup.MethodVerifier;
import org.eclipse.jdt.internal.compiler.lookup.ReferenceBinding;
import org.eclipse.jdt.internal.compiler.lookup.TypeBinding;

/** Declarations of a tree in, the file's nodes and how its types and methods relate to others out. */
final class Declarations {
    private static final int CONSTANT = ClassFileConstants.AccStatic | ClassFileConstants.AccFinal;
    private static final int ALONE = ClassFileConstants.AccStatic | ClassFileConstants.AccPrivate;

    private final FileFacts facts;
    private final Symbols symbols;
    private final LookupEnvironment environment;
    private final Deque<Open> open = new ArrayDeque<>();

    /** A declaration whose parts are being visited. */
    private record Open(ASTNode tree, Node node) {}

    Declarations(FileFacts facts, Symbols symbols, LookupEnvironment environment) {
        this.facts = facts;
        this.symbols = symbols;
        this.environment = environment;
    }

    boolean enterType(TypeDeclaration type) {
        if (type.isPackageInfo()) {
            return true;
        }
        boolean anonymous = (type.bits & ASTNode.IsAnonymousType) != 0;
        String name = anonymous ? "anonymous" : new String(type.name);
        int at = Symbols.nameOffset(type);
        boolean local = anonymous || (type.bits & ASTNode.IsLocalType) != 0 || isLocal();
        int begin = anonymous ? at : type.declarationSourceStart;
        int[] written = {at, at + (anonymous ? 1 : name.length())};
        int end = (anonymous ? type.bodyEnd : type.declarationSourceEnd) + 1;
        Node node = facts.add(new Node(name, kind(type), parent(), new int[] {begin, end}, written, local));
        open.push(new Open(type, node));
        if (!anonymous) {
            declare(written, symbols.type(type.binding));
        }
        if (type.binding != null) {
            relate(type);
        }
        return true;
    }

    private static String kind(TypeDeclaration type) {
        return switch (TypeDeclaration.kind(type.modifiers)) {
            case TypeDeclaration.INTERFACE_DECL, TypeDeclaration.ANNOTATION_TYPE_DECL -> "interface";
            case TypeDeclaration.ENUM_DECL -> "enum";
            default -> "class";
        };
    }

    static List<TypeReference> bases(TypeDeclaration type) {
        List<TypeReference> found = new ArrayList<>();
        if (type.superclass != null) {
            found.add(type.superclass);
        }
        if (type.superInterfaces != null) {
            found.addAll(List.of(type.superInterfaces));
        }
        return found;
    }

    private void relate(TypeDeclaration type) {
        Symbol own = symbols.type(type.binding);
        ReferenceBinding above = type.binding.superclass();
        if (above != null && !isImplied(type, above)) {
            add("inherit", own, symbols.type(above));
        }
        boolean isInterface = type.binding.isInterface();
        for (ReferenceBinding each : Symbols.interfaces(type.binding)) {
            if (!type.binding.isAnnotationType()) {
                add(isInterface ? "inherit" : "implement", own, symbols.type(each));
            }
        }
    }

    /** Whether nobody wrote the superclass. */
    private static boolean isImplied(TypeDeclaration type, ReferenceBinding above) {
        boolean anonymous = (type.bits & ASTNode.IsAnonymousType) != 0;
        return type.superclass == null && !(anonymous && above.id != org.eclipse.jdt.internal.compiler.lookup.TypeIds.T_JavaLangObject);
    }

    private void add(String kind, Symbol from, Symbol to) {
        if (from != null && to != null) {
            facts.relate(kind, from.target(), to.target());
        }
    }

    boolean enterMethod(AbstractMethodDeclaration method) {
        if (method.isClinit() || method.isDefaultConstructor()) {
            return false;
        }
        String name = new String(method.selector);
        int[] written = {method.sourceStart, method.sourceStart + name.length()};
        int[] extent = {method.declarationSourceStart, method.declarationSourceEnd + 1};
        Node node = facts.add(new Node(name, "method", parent(), extent, written, isLocal()));
        open.push(new Open(method, node));
        Target target = Target.at(facts.source, method.sourceStart);
        declare(written, new Symbol(target, true));
        MethodBinding binding = method.binding;
        if (binding != null && !method.isConstructor() && (binding.modifiers & ALONE) == 0) {
            relateOverridden(binding, target, binding.declaringClass, new HashSet<>());
        }
        return true;
    }

    /** What a method overrides, in all supertypes: asking for the references of these collects its own too. */
    private void relateOverridden(MethodBinding method, Target own, ReferenceBinding type, Set<TypeBinding> visited) {
        List<ReferenceBinding> above = new ArrayList<>(List.of(Symbols.interfaces(type)));
        if (type.superclass() != null) {
            above.add(type.superclass());
        }
        for (ReferenceBinding each : above) {
            if (!visited.add(each.erasure()) || !each.isValidBinding()) {
                continue;
            }
            for (MethodBinding inherited : each.getMethods(method.selector)) {
                if (inherited.parameters.length == method.parameters.length
                        && (inherited.modifiers & ALONE) == 0
                        && MethodVerifier.doesMethodOverride(method, inherited, environment)) {
                    Symbol symbol = symbols.method(inherited);
                    if (symbol != null) {
                        facts.relate("override", own, symbol.target());
                        facts.relate("also", symbol.target(), own);
                    }
                }
            }
            relateOverridden(method, own, each, visited);
        }
    }

    void enterVariable(AbstractVariableDeclaration variable) {
        if (variable instanceof Initializer || variable.name == null || variable.name.length == 0) {
            return;
        }
        String name = new String(variable.name);
        if (facts.source.find(variable.name, variable.sourceStart, variable.sourceStart + name.length() - 1) < 0) {
            return; // `this` of a receiver, or a parameter that a record implies
        }
        int[] written = {variable.sourceStart, variable.sourceStart + name.length()};
        int[] extent = {variable.declarationSourceStart, Math.max(variable.declarationSourceEnd + 1, written[1])};
        if (facts.hasAt(written[0])) {
            return;
        }
        boolean member = variable instanceof FieldDeclaration || variable instanceof RecordComponent;
        boolean local = !member || isLocal();
        Node node = facts.add(new Node(name, kind(variable), parent(), extent, written, local));
        if (variable instanceof FieldDeclaration) {
            open.push(new Open(variable, node));
        }
        declare(written, new Symbol(Target.at(facts.source, written[0]), true));
    }

    private static String kind(AbstractVariableDeclaration variable) {
        if (variable instanceof FieldDeclaration field) {
            if (field.getKind() == AbstractVariableDeclaration.ENUM_CONSTANT) {
                return "enum_member";
            }
            int modifiers = field.binding == null ? field.modifiers : field.binding.modifiers;
            return (modifiers & CONSTANT) == CONSTANT ? "constant" : "field";
        }
        if (variable instanceof RecordComponent) {
            return "field";
        }
        return variable instanceof TypeParameter
                ? "type_parameter"
                : variable instanceof Argument ? "parameter" : "variable";
    }

    private void declare(int[] written, Symbol symbol) {
        if (symbol != null) {
            List<Target> target = List.of(symbol.target());
            facts.add(written[0], written[1] - written[0], DECLARATION, target, target);
        }
    }

    void leave(ASTNode tree) {
        if (!open.isEmpty() && open.peek().tree == tree) {
            open.pop();
        }
    }

    private Node parent() {
        return open.isEmpty() ? null : open.peek().node;
    }

    private boolean isLocal() {
        return !open.isEmpty() && open.peek().node.local;
    }

    /** The constructor of the superclass that an anonymous class calls. */
    static MethodBinding superConstructor(TypeDeclaration anonymous) {
        if (anonymous.methods != null) {
            for (AbstractMethodDeclaration method : anonymous.methods) {
                if (method instanceof ConstructorDeclaration constructor && constructor.constructorCall != null) {
                    return constructor.constructorCall.binding;
                }
            }
        }
        return null;
    }
}
