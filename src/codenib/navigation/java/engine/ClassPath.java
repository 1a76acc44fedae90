package javafacts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javafacts.Pom.Artifact;

/**
 * The build files of a checkout in, jars of local repositories out: what the files name and what that needs, as far
 * as it is there. No build runs and nothing is fetched. Jars in the checkout count too.
 */
final class ClassPath {
    private static final Set<String> SKIPPED = Set.of(".git", "node_modules", "target", "build", ".gradle");
    private static final int MOST_JARS = 4000;
    // "group:name:version" in scripts of Gradle; module = "group:name" in its catalogues, with the version elsewhere.
    private static final Pattern COORDINATES =
            Pattern.compile("[\"']([A-Za-z0-9_.-]+):([A-Za-z0-9_.-]+)(?::([A-Za-z0-9_.+-]+))?[^\"'\\s]*[\"']");
    private static final Pattern NAMED =
            Pattern.compile("group\\s*[=:]\\s*[\"']([^\"']+)[\"']\\s*,\\s*name\\s*[=:]\\s*[\"']([^\"']+)[\"']");

    private final Repository repository;
    private final TreeMap<Path, Pom> poms = new TreeMap<>();
    private final List<Artifact> scripted = new ArrayList<>();
    private final List<Path> inside = new ArrayList<>();
    private final List<Path> buildFiles = new ArrayList<>();
    private final List<String> states = new ArrayList<>();
    private List<Path> jars;

    ClassPath(Path root, List<Path> repositories) throws IOException {
        this.repository = new Repository(repositories);
        Files.walkFileTree(
                root,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                        boolean skip = !folder.equals(root) && SKIPPED.contains(folder.getFileName().toString());
                        return skip ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        if (attributes.isRegularFile() && isBuildFile(file)) {
                            buildFiles.add(file);
                            states.add(file + " " + attributes.size() + " " + attributes.lastModifiedTime());
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException error) {
                        return FileVisitResult.CONTINUE;
                    }
                });
        buildFiles.sort(null);
        states.sort(null);
    }

    private static boolean isBuildFile(Path file) {
        String name = file.getFileName().toString();
        return name.equals("pom.xml")
                || name.endsWith(".gradle")
                || name.endsWith(".gradle.kts")
                || name.endsWith(".versions.toml")
                || name.endsWith(".jar");
    }

    /** Whether build files are as they were for another class path. */
    boolean readsTheSameAs(ClassPath other) {
        return states.equals(other.states);
    }

    private void read(Path file) {
        String name = file.getFileName().toString();
        if (name.equals("pom.xml")) {
            Pom pom = Pom.read(file);
            if (pom != null) {
                poms.put(file, pom);
            }
        } else if (name.endsWith(".jar")) {
            inside.add(file);
        } else {
            readScript(file);
        }
    }

    private void readScript(Path file) {
        String text;
        try {
            text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException error) {
            return;
        }
        for (Matcher found = COORDINATES.matcher(text); found.find(); ) {
            scripted.add(new Artifact(found.group(1), found.group(2), found.group(3) == null ? "" : found.group(3), ""));
        }
        for (Matcher found = NAMED.matcher(text); found.find(); ) {
            scripted.add(new Artifact(found.group(1), found.group(2), "", ""));
        }
    }

    /** The jars, those that build files name first, each artifact at one version. */
    List<Path> jars() {
        if (jars == null) {
            buildFiles.forEach(this::read);
            scripted.sort(null);
            jars = find();
        }
        return jars;
    }

    private List<Path> find() {
        Map<String, Pom> own = new HashMap<>();
        poms.values().forEach(pom -> own.put(pom.group() + ":" + pom.name(), pom));
        Deque<Artifact> wanted = new ArrayDeque<>();
        for (Pom pom : poms.values()) {
            wanted.addAll(new Model(pom, own, repository).dependencies(true));
        }
        wanted.addAll(scripted);
        Map<String, Path> found = new LinkedHashMap<>();
        while (!wanted.isEmpty() && found.size() < MOST_JARS) {
            Artifact next = wanted.poll();
            String key = next.group() + ":" + next.name() + ":" + next.classifier();
            if (found.containsKey(key) || own.containsKey(next.group() + ":" + next.name())) {
                continue;
            }
            Repository.Release release = repository.find(next);
            found.put(key, release == null ? null : release.jar());
            Pom pom = release == null || release.pom() == null ? null : Pom.read(release.pom());
            if (pom != null) {
                wanted.addAll(new Model(pom, own, repository).dependencies(false));
            }
        }
        List<Path> paths = new ArrayList<>();
        found.values().stream().filter(path -> path != null).forEach(paths::add);
        paths.addAll(inside);
        return paths;
    }
}
