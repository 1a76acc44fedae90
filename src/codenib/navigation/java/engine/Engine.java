package javafacts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;

/** Files of a checkout in, the line of each out; after an edit, those of the files that it reaches. */
final class Engine {
    /** What stays known of a file whose line was given. */
    record Summary(Set<String> typeFiles, int names, int unresolved, List<String> missing, boolean failed) {}

    private final Path root;
    private final Library library;
    private final int jars;
    private final TreeMap<String, Source> files = new TreeMap<>();
    private final Map<String, Summary> summaries = new HashMap<>();
    private String division = "";

    Engine(Path root, ClassPath classPath) throws IOException {
        this.root = root;
        Collection<Path> found = classPath.jars();
        this.jars = found.size();
        this.library = new Library(found);
    }

    /** Read all files and give the line of each. */
    void build(Collection<String> paths, BiConsumer<String, String> give) throws IOException {
        files.clear();
        summaries.clear();
        for (String path : paths) {
            files.put(path, read(path));
        }
        derive(new Division(root, files.values()), files.values(), give);
    }

    /** Read the changed files again and give the lines of all files that may differ. */
    void update(Collection<String> paths, Collection<String> changed, BiConsumer<String, String> give)
            throws IOException {
        Set<String> now = new HashSet<>(paths);
        Set<String> edited = new HashSet<>(changed);
        files.keySet().stream().filter(path -> !now.contains(path)).forEach(edited::add);
        now.stream().filter(path -> !files.containsKey(path)).forEach(edited::add);
        Map<String, Source> before = new HashMap<>();
        Map<String, Source> after = new HashMap<>();
        for (String path : edited) {
            Source old = files.remove(path);
            summaries.remove(path);
            if (old != null) {
                before.put(path, old);
            }
            if (now.contains(path)) {
                after.put(path, read(path));
            }
        }
        Impact impact = new Impact(before, after, files.values());
        List<Source> reached = new ArrayList<>(after.values());
        Collection<Source> rest = List.copyOf(files.values());
        files.putAll(after);
        Division next = new Division(root, files.values());
        boolean same = next.signature.equals(division);
        for (Source file : rest) {
            if (!same || impact.reaches(file, summaries.get(file.path).typeFiles())) {
                reached.add(file);
            }
        }
        derive(next, reached, give);
    }

    private Source read(String path) throws IOException {
        Path file = root.resolve(path);
        return new Source(path, Files.isRegularFile(file) ? Files.readAllBytes(file) : new byte[0]);
    }

    private void derive(Division parts, Collection<Source> wanted, BiConsumer<String, String> give) {
        division = parts.signature;
        Set<Source> chosen = new HashSet<>(wanted);
        int done = 0;
        for (Map.Entry<String, List<Source>> group : parts.groups.entrySet()) {
            List<Source> own = group.getValue().stream().filter(chosen::contains).toList();
            if (own.isEmpty()) {
                continue;
            }
            TypeNames names = new TypeNames(parts.preferred(group.getKey()), library);
            Resolver resolver = new Resolver(names);
            resolver.read(own);
            Symbols symbols = new Symbols();
            for (Source file : own) {
                FileFacts facts = new FileFacts(file);
                facts.scope = parts.scope(file, group.getKey());
                boolean failed = !resolve(facts, resolver, symbols);
                summaries.put(
                        file.path,
                        new Summary(
                                Set.copyOf(facts.typeFiles), facts.names, facts.unresolved, facts.missing, failed));
                give.accept(file.path, facts.line());
                resolver.release(file);
                if (++done % 50 == 0) {
                    System.err.println("progress " + done + " " + wanted.size());
                }
            }
        }
    }

    /** Gather the facts of a file; false where the compiler failed in it, and names in it are only names. */
    private static boolean resolve(FileFacts facts, Resolver resolver, Symbols symbols) {
        boolean resolved = true;
        CompilationUnitDeclaration unit;
        try {
            unit = resolver.resolve(facts.source);
        } catch (RuntimeException | StackOverflowError error) {
            resolved = false;
            unit = resolver.tree(facts.source);
        }
        try {
            new Walker(facts, symbols, resolver).walk(unit);
        } catch (RuntimeException | StackOverflowError error) {
            facts.scope = "unresolved";
            return false;
        }
        return resolved;
    }

    /** What the caller needs to judge how complete the facts are. */
    String report() {
        long names = 0;
        long unresolved = 0;
        int partial = 0;
        List<String> failed = new ArrayList<>();
        Map<String, Integer> missing = new TreeMap<>();
        for (String path : files.keySet()) {
            Summary summary = summaries.get(path);
            names += summary.names;
            unresolved += summary.unresolved;
            partial += summary.unresolved > 0 ? 1 : 0;
            summary.missing.forEach(name -> missing.merge(name, 1, Integer::sum));
            if (summary.failed) {
                failed.add(path);
            }
        }
        List<String> often = new ArrayList<>(missing.keySet());
        often.sort((a, b) -> missing.get(b) - missing.get(a));
        Json.Writer out = new Json.Writer().begin('{');
        out.key("files").number(files.size()).key("names").number(names).key("unresolved").number(unresolved);
        out.key("partial").number(partial).key("jars").number(jars).key("absent").number(missing.size());
        out.key("missing").texts(often.subList(0, Math.min(3, often.size())));
        out.key("failed").texts(failed).key("broken").texts(library.broken);
        return out.end('}').toString();
    }
}
