package javafacts;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.eclipse.jdt.core.compiler.CharOperation;
import org.eclipse.jdt.internal.compiler.CompilationResult;
import org.eclipse.jdt.internal.compiler.ast.ASTNode;
import org.eclipse.jdt.internal.compiler.ast.AbstractMethodDeclaration;
import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;
import org.eclipse.jdt.internal.compiler.ast.FieldDeclaration;
import org.eclipse.jdt.internal.compiler.ast.ImportReference;
import org.eclipse.jdt.internal.compiler.ast.Initializer;
import org.eclipse.jdt.internal.compiler.ast.TypeDeclaration;
import org.eclipse.jdt.internal.compiler.classfmt.ClassFileConstants;
import org.eclipse.jdt.internal.compiler.impl.CompilerOptions;
import org.eclipse.jdt.internal.compiler.parser.Parser;

/**
 * What other files can see of a file, without its bodies: package, types, and each declaration's text.
 *
 * <p>No type in a declaration of Java is inferred, so that two equal outlines mean the same to every other file as
 * long as the names in them do.
 */
final class Outline {
    /**
     * A declaration outside of bodies. `implicit`: code may depend on it without writing its name, as on the
     * supertypes of a type or on the one method of an interface that a lambda implements.
     */
    record Entry(String name, String text, boolean implicit, boolean isType, Set<String> mentions) {}

    private static final CompilerOptions OPTIONS = Settings.options();

    final String packageName;
    /** The types at the top level, and where each is named. */
    final Map<String, Integer> types = new LinkedHashMap<>();
    /** By qualified name, kind and number among equal ones. */
    final Map<String, Entry> entries = new LinkedHashMap<>();

    private final Source source;
    private final Map<String, String> imports = new TreeMap<>();
    private final StringBuilder onDemand = new StringBuilder();

    private Outline(Source source) {
        this.source = source;
        Parser parser = new Parser(Settings.reporter(OPTIONS), false);
        CompilationUnitDeclaration unit = null;
        try {
            unit = parser.dietParse(new Text(source), new CompilationResult(source.path.toCharArray(), 0, 1, 1));
        } catch (RuntimeException error) {
            // a text that the parser cannot recover from declares nothing
        }
        packageName = unit == null || unit.currentPackage == null ? "" : joined(unit.currentPackage.tokens);
        if (unit == null) {
            return;
        }
        if (unit.imports != null) {
            for (ImportReference each : unit.imports) {
                addImport(each);
            }
        }
        if (unit.types != null) {
            for (TypeDeclaration each : unit.types) {
                if (!each.isPackageInfo()) {
                    types.put(new String(each.name), each.sourceStart);
                    addType(each, packageName.isEmpty() ? "" : packageName + ".");
                }
            }
        }
    }

    static Outline of(Source source) {
        return new Outline(source);
    }

    static String joined(char[][] tokens) {
        return new String(CharOperation.concatWith(tokens, '.'));
    }

    private void addImport(ImportReference each) {
        String name = joined(each.tokens);
        String text = (each.isStatic() ? "static " : "") + name;
        if ((each.bits & ASTNode.OnDemand) != 0) {
            onDemand.append(text).append(".*;");
        } else {
            imports.merge(new String(each.getSimpleName()), text, (a, b) -> a + ";" + b);
        }
    }

    private void addType(TypeDeclaration type, String prefix) {
        String name = new String(type.name);
        String chain = prefix + name;
        add(chain + ":type", name, text(type.declarationSourceStart, type.bodyStart - 1), true, true);
        boolean isInterface = (type.modifiers & ClassFileConstants.AccInterface) != 0;
        if (type.fields != null) {
            for (FieldDeclaration field : type.fields) {
                if (!(field instanceof Initializer)) {
                    addField(field, chain);
                }
            }
        }
        if (type.methods != null) {
            for (AbstractMethodDeclaration method : type.methods) {
                if (method.isClinit() || method.isDefaultConstructor()) {
                    continue;
                }
                String selector = new String(method.selector);
                int end = method.bodyStart > method.sourceStart ? method.bodyStart - 1 : method.declarationSourceEnd;
                int own = ClassFileConstants.AccStatic | ClassFileConstants.AccPrivate;
                boolean implicit =
                        isInterface && !method.isDefaultMethod() && (method.modifiers & own) == 0;
                add(chain + "." + selector + "()", selector, text(method.declarationSourceStart, end), implicit, false);
            }
        }
        if (type.memberTypes != null) {
            for (TypeDeclaration member : type.memberTypes) {
                addType(member, chain + ".");
            }
        }
    }

    private void addField(FieldDeclaration field, String chain) {
        String name = new String(field.name);
        int end = field.initialization == null ? field.declarationSourceEnd : field.initialization.sourceStart - 1;
        int begin = field.type == null ? field.sourceStart : field.declarationSourceStart; // no type: a constant
        int last = field.type == null ? field.sourceEnd : Math.max(end, field.sourceEnd);
        add(chain + "." + name, name, text(begin, last), false, false);
    }

    private void add(String key, String name, String text, boolean implicit, boolean isType) {
        char[] chars = text.toCharArray();
        Set<String> mentions = Source.identifiers(chars, 0, chars.length);
        StringBuilder whole = new StringBuilder(text).append('|').append(onDemand);
        imports.forEach(
                (simple, imported) -> {
                    if (mentions.contains(simple)) {
                        whole.append('|').append(imported);
                    }
                });
        int number = 0;
        while (entries.containsKey(key + number)) {
            number++;
        }
        entries.put(key + number, new Entry(name, whole.toString(), implicit, isType, mentions));
    }

    /** The text between two offsets, inclusive, without comments and with single spaces. */
    private String text(int from, int to) {
        char[] chars = source.text;
        StringBuilder out = new StringBuilder();
        int last = Math.min(to, chars.length - 1);
        for (int at = Math.max(from, 0); at <= last; at++) {
            char here = chars[at];
            char next = at < last ? chars[at + 1] : 0;
            if (here == '/' && next == '/') {
                while (at <= last && chars[at] != '\n') {
                    at++;
                }
                here = ' ';
            } else if (here == '/' && next == '*') {
                at += 2;
                while (at < last && !(chars[at] == '*' && chars[at + 1] == '/')) {
                    at++;
                }
                at++;
                here = ' ';
            } else if (here == '"' || here == '\'') {
                int begin = at++;
                while (at <= last && chars[at] != here && chars[at] != '\n') {
                    at += chars[at] == '\\' ? 2 : 1;
                }
                out.append(chars, begin, Math.min(at, last) - begin);
            }
            if (!Character.isWhitespace(here)) {
                out.append(here);
            } else if (out.length() > 0 && out.charAt(out.length() - 1) != ' ') {
                out.append(' ');
            }
        }
        return out.toString();
    }

    /** The source to the parser, before its own outline is known. */
    private record Text(Source source) implements org.eclipse.jdt.internal.compiler.env.ICompilationUnit {
        @Override
        public char[] getContents() {
            return source.text;
        }

        @Override
        public char[] getMainTypeName() {
            return source.getMainTypeName();
        }

        @Override
        public char[][] getPackageName() {
            return null;
        }

        @Override
        public char[] getFileName() {
            return source.getFileName();
        }
    }
}
