package javafacts;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import javafacts.Pom.Artifact;

/** The local repositories of Maven (GROUP/FOLDERS/NAME/VERSION) and Gradle (GROUP/NAME/VERSION/DIGEST). */
final class Repository {
    /** The files of an artifact at one version; either may be missing. */
    record Release(Path jar, Path pom) {}

    private static final String GRADLE = "files-2.1";

    private final List<Path> roots;

    Repository(List<Path> roots) {
        this.roots = roots;
    }

    /** The artifact at its version, else at the newest version that is there; null when there is none. */
    Release find(Artifact artifact) {
        if (isOdd(artifact.group()) || isOdd(artifact.name()) || isOdd(artifact.version() + "0")) {
            return null;
        }
        Release other = null;
        for (Path root : roots) {
            boolean gradle = root.endsWith(GRADLE);
            String group = gradle ? artifact.group() : artifact.group().replace('.', '/');
            Path folder = root.resolve(group).resolve(artifact.name());
            for (Path version : versions(folder, artifact.version())) {
                Release found = release(version, artifact, gradle);
                if (found != null && version.getFileName().toString().equals(artifact.version())) {
                    return found;
                }
                boolean better = other == null || other.jar() == null && found != null && found.jar() != null;
                other = better ? found : other;
            }
        }
        return other;
    }

    /** Whether a name of a build file is no name of one folder. */
    private static boolean isOdd(String name) {
        return !name.matches("[A-Za-z0-9_.+-]+") || name.contains("..");
    }

    /** The folders of versions, the wanted one first, then the newest. */
    private static List<Path> versions(Path folder, String wanted) {
        List<Path> found = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return found;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, Files::isDirectory)) {
            entries.forEach(found::add);
        } catch (IOException error) {
            return found;
        }
        Comparator<Path> newest = (a, b) -> compare(b.getFileName().toString(), a.getFileName().toString());
        found.sort(Comparator.<Path, Boolean>comparing(path -> !path.getFileName().toString().equals(wanted)).thenComparing(newest));
        return found;
    }

    /** Compare versions part by part, numbers as numbers. */
    static int compare(String a, String b) {
        String[] left = a.split("[.-]");
        String[] right = b.split("[.-]");
        for (int at = 0; at < Math.min(left.length, right.length); at++) {
            boolean numbers = left[at].matches("\\d{1,9}") && right[at].matches("\\d{1,9}");
            int order =
                    numbers
                            ? Integer.compare(Integer.parseInt(left[at]), Integer.parseInt(right[at]))
                            : left[at].compareTo(right[at]);
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(left.length, right.length);
    }

    private static Release release(Path folder, Artifact artifact, boolean gradle) {
        String stem = artifact.name() + "-" + folder.getFileName();
        String suffix = artifact.classifier().isEmpty() ? "" : "-" + artifact.classifier();
        List<Path> places = gradle ? below(folder) : List.of(folder);
        Path jar = first(places, stem + suffix + ".jar");
        Path pom = first(places, stem + ".pom");
        return jar == null && pom == null ? null : new Release(jar, pom);
    }

    private static List<Path> below(Path folder) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, Files::isDirectory)) {
            entries.forEach(found::add);
        } catch (IOException error) {
            return List.of();
        }
        found.sort(null);
        return found;
    }

    private static Path first(List<Path> folders, String name) {
        return folders.stream().map(folder -> folder.resolve(name)).filter(Files::isRegularFile).findFirst().orElse(null);
    }
}
