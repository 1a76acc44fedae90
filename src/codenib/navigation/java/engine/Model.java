package javafacts;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javafacts.Pom.Artifact;
import javafacts.Pom.Dependency;

/** A Maven project file with its parents in, the artifacts that it depends on out. */
final class Model {
    private static final int DEEPEST = 16;
    private static final Pattern REFERENCE = Pattern.compile("\\$\\{([^}]+)}");
    private static final Set<String> NEEDED = Set.of("", "compile", "runtime");

    private final Repository repository;
    private final Map<String, Pom> own;
    /** The file and its parents, the nearest first. */
    private final List<Pom> chain = new ArrayList<>();

    private final Map<String, String> properties = new HashMap<>();
    private final Map<String, String> versions = new HashMap<>();

    /** `own` are the projects of the checkout, by group and name. */
    Model(Pom pom, Map<String, Pom> own, Repository repository) {
        this(pom, own, repository, 0);
    }

    private Model(Pom pom, Map<String, Pom> own, Repository repository, int depth) {
        this.own = own;
        this.repository = repository;
        for (Pom each = pom; each != null && chain.size() < DEEPEST; each = find(each.parent())) {
            chain.add(each);
            each.properties().forEach(properties::putIfAbsent);
        }
        for (String prefix : List.of("project.", "pom.", "")) {
            properties.putIfAbsent(prefix + "version", pom.version());
            properties.putIfAbsent(prefix + "groupId", pom.group());
        }
        if (pom.parent() != null) {
            properties.putIfAbsent("project.parent.version", pom.parent().version());
            properties.putIfAbsent("project.parent.groupId", pom.parent().group());
        }
        for (Pom each : chain) {
            for (Dependency managed : each.managed()) {
                manage(managed, depth);
            }
        }
    }

    private Pom find(Artifact artifact) {
        if (artifact == null) {
            return null;
        }
        Pom local = own.get(artifact.group() + ":" + artifact.name());
        if (local != null) {
            return local;
        }
        Repository.Release release = repository.find(artifact);
        return release == null || release.pom() == null ? null : Pom.read(release.pom());
    }

    private void manage(Dependency managed, int depth) {
        Artifact artifact = filled(managed.artifact());
        if (!managed.scope().equals("import")) {
            versions.putIfAbsent(artifact.group() + ":" + artifact.name(), artifact.version());
            return;
        }
        Pom imported = depth < DEEPEST ? find(artifact) : null;
        if (imported != null) {
            new Model(imported, own, repository, depth + 1).versions.forEach(versions::putIfAbsent);
        }
    }

    /** What it depends on; with `all`, also for its tests and optional ones. */
    List<Artifact> dependencies(boolean all) {
        List<Artifact> found = new ArrayList<>();
        for (Pom each : chain) {
            for (Dependency dependency : each.dependencies()) {
                boolean needed = all || NEEDED.contains(dependency.scope()) && !dependency.optional();
                if (needed && !dependency.type().equals("pom")) {
                    Artifact artifact = filled(dependency.artifact());
                    String managed = versions.getOrDefault(artifact.group() + ":" + artifact.name(), "");
                    String version = artifact.version().isEmpty() ? managed : artifact.version();
                    String classifier = dependency.type().equals("test-jar") ? "tests" : artifact.classifier();
                    found.add(new Artifact(artifact.group(), artifact.name(), version, classifier));
                }
            }
        }
        return found;
    }

    private Artifact filled(Artifact artifact) {
        return new Artifact(
                filled(artifact.group()), filled(artifact.name()), filled(artifact.version()), filled(artifact.classifier()));
    }

    private String filled(String text) {
        String now = text;
        for (int round = 0; round < DEEPEST && now.contains("${"); round++) {
            Matcher matcher = REFERENCE.matcher(now);
            now = matcher.replaceAll(found -> Matcher.quoteReplacement(properties.getOrDefault(found.group(1), "")));
        }
        return now;
    }
}
