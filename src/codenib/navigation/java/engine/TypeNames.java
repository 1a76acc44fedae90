package javafacts;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.jdt.internal.compiler.env.IBinaryType;
import org.eclipse.jdt.internal.compiler.env.INameEnvironment;
import org.eclipse.jdt.internal.compiler.env.NameEnvironmentAnswer;

/** Names of types to the compiler: of two sources that declare a type, the first; then compiled ones. */
final class TypeNames implements INameEnvironment {
    private final Map<String, Source> sources = new HashMap<>();
    private final Set<String> packages = new HashSet<>();
    private final Library library;

    /** `files` in order of preference. */
    TypeNames(List<Source> files, Library library) {
        this.library = library;
        for (Source file : files) {
            String name = file.outline.packageName;
            for (int end = name.length(); end > 0; end = name.lastIndexOf('.', end - 1)) {
                packages.add(name.substring(0, end));
            }
            for (String type : file.outline.types.keySet()) {
                sources.putIfAbsent(name + "/" + type, file);
            }
        }
    }

    /** The file that declares a type of this qualified name (at the top level); null when none does. */
    Source source(String packageName, String name) {
        return sources.get(packageName + "/" + name);
    }

    @Override
    public NameEnvironmentAnswer findType(char[][] name) {
        return name == null ? null : find(joined(name, name.length - 1), new String(name[name.length - 1]));
    }

    @Override
    public NameEnvironmentAnswer findType(char[] name, char[][] packageName) {
        return name == null ? null : find(joined(packageName, packageName.length), new String(name));
    }

    private NameEnvironmentAnswer find(String packageName, String name) {
        Source source = source(packageName, name);
        if (source != null) {
            return new NameEnvironmentAnswer(source, null);
        }
        IBinaryType type = library.find(packageName, name);
        return type == null ? null : new NameEnvironmentAnswer(type, null);
    }

    @Override
    public boolean isPackage(char[][] parent, char[] name) {
        String last = new String(name);
        String whole = parent == null || parent.length == 0 ? last : joined(parent, parent.length) + "." + last;
        return packages.contains(whole) || library.hasPackage(whole);
    }

    /** Whether the first tokens of a dotted name are a package. */
    boolean isPackage(char[][] tokens, int count) {
        String whole = joined(tokens, count);
        return packages.contains(whole) || library.hasPackage(whole);
    }

    @Override
    public void cleanup() {
        // the library outlives each environment
    }

    private static String joined(char[][] names, int count) {
        StringBuilder out = new StringBuilder();
        for (int at = 0; at < count; at++) {
            out.append(at == 0 ? "" : ".").append(names[at]);
        }
        return out.toString();
    }
}
