package javafacts;

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

/**
 * Which files are resolved together. All are, unless two declare a type of the same qualified name: modules with
 * such a type are resolved by themselves, source folder by source folder, each with its own types first.
 */
final class Division {
    private static final List<String> BUILD_FILES =
            List.of("pom.xml", "build.gradle", "build.gradle.kts", "build.xml", "BUILD", "BUILD.bazel", "build.sbt");
    private static final String TOGETHER = "";

    /** The key of a group (empty for all that is resolved together) → its files, in order of their paths. */
    final Map<String, List<Source>> groups = new TreeMap<>();

    /** What decides the groups: equal ones divide alike. */
    final String signature;

    private final Path root;
    private final Collection<Source> files;
    private final Map<String, String> modules = new HashMap<>();

    Division(Path root, Collection<Source> files) {
        this.root = root;
        this.files = files;
        Map<String, List<Source>> declared = new TreeMap<>();
        for (Source file : files) {
            for (String type : file.outline.types.keySet()) {
                declared.computeIfAbsent(file.outline.packageName + "." + type, unused -> new ArrayList<>()).add(file);
            }
        }
        Set<String> apart = new HashSet<>();
        StringBuilder text = new StringBuilder();
        declared.forEach(
                (name, sources) -> {
                    if (sources.size() > 1) {
                        sources.forEach(source -> apart.add(module(source)));
                        text.append(name).append(sources).append('\n');
                    }
                });
        for (Source file : files) {
            String key = apart.contains(module(file)) ? "/" + sourceFolder(file) : TOGETHER;
            groups.computeIfAbsent(key, unused -> new ArrayList<>()).add(file);
        }
        new TreeMap<>(modules).forEach(
                (folder, module) -> text.append(folder).append(' ').append(module).append(hasBuildFile(module)));
        signature = text.toString();
    }

    /** All files in the order in which a group prefers their types. */
    List<Source> preferred(String group) {
        if (group.equals(TOGETHER)) {
            return List.copyOf(files);
        }
        List<Source> own = groups.get(group);
        String module = module(own.get(0));
        List<Source> ordered = new ArrayList<>(own);
        files.stream().filter(file -> module(file).equals(module)).forEach(ordered::add);
        ordered.addAll(files);
        return ordered;
    }

    /** How a file belongs to the project. */
    String scope(Source file, String group) {
        if (!isWhereItsPackageSays(file) || module(file).equals(sourceFolder(file)) && !hasBuildFile(module(file))) {
            return "loose";
        }
        return group.equals(TOGETHER) ? "project" : "variant";
    }

    private static String folder(String path) {
        return path.contains("/") ? path.substring(0, path.lastIndexOf('/')) : "";
    }

    private static boolean isWhereItsPackageSays(Source file) {
        String inside = file.outline.packageName.replace('.', '/');
        return inside.isEmpty() || ("/" + folder(file.path)).endsWith("/" + inside);
    }

    /** The folder that a file's package begins in. */
    private static String sourceFolder(Source file) {
        String folder = folder(file.path);
        String inside = file.outline.packageName.replace('.', '/');
        if (inside.isEmpty() || !isWhereItsPackageSays(file)) {
            return folder;
        }
        String left = folder.substring(0, folder.length() - inside.length());
        return left.endsWith("/") ? left.substring(0, left.length() - 1) : left;
    }

    /** The nearest folder above a file with a build file; else its source folder. */
    private String module(Source file) {
        String start = sourceFolder(file);
        return modules.computeIfAbsent(
                start,
                unused -> {
                    for (String at = start; ; at = folder(at)) {
                        if (hasBuildFile(at)) {
                            return at;
                        }
                        if (at.isEmpty()) {
                            return start;
                        }
                    }
                });
    }

    private boolean hasBuildFile(String folder) {
        return BUILD_FILES.stream().anyMatch(name -> Files.isRegularFile(root.resolve(folder).resolve(name)));
    }
}
