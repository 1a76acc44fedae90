package javafacts;

import java.io.IOException;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.eclipse.jdt.internal.compiler.classfmt.ClassFileReader;
import org.eclipse.jdt.internal.compiler.classfmt.ClassFormatException;
import org.eclipse.jdt.internal.compiler.env.IBinaryType;

/** Compiled types: those of the running Java, then those of jars. Nothing of them is ever loaded or run. */
final class Library {
    private static final String CLASS = ".class";

    private final FileSystem runtime = FileSystems.getFileSystem(URI.create("jrt:/"));
    /** Package → the modules of the running Java that have it. */
    private final Map<String, List<String>> modules = new HashMap<>();

    private final Map<String, List<ZipFile>> jars = new HashMap<>();
    private final Set<String> packages = new HashSet<>();
    private final Map<String, Optional<IBinaryType>> read = new HashMap<>();
    final List<String> broken = new ArrayList<>();

    Library(Collection<Path> classPath) throws IOException {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(runtime.getPath("/packages"))) {
            for (Path folder : folders) {
                try (DirectoryStream<Path> links = Files.newDirectoryStream(folder)) {
                    for (Path link : links) {
                        String name = folder.getFileName().toString();
                        modules.computeIfAbsent(name, unused -> new ArrayList<>()).add(link.getFileName().toString());
                        addPackage(name);
                    }
                }
            }
        }
        for (Path path : classPath) {
            addJar(path);
        }
    }

    private void addJar(Path path) {
        try {
            ZipFile jar = new ZipFile(path.toFile());
            Set<String> own = new HashSet<>();
            jar.stream()
                    .map(ZipEntry::getName)
                    .filter(name -> name.endsWith(CLASS) && !name.startsWith("META-INF/"))
                    .forEach(name -> own.add(name.substring(0, Math.max(name.lastIndexOf('/'), 0)).replace('/', '.')));
            for (String name : own) {
                jars.computeIfAbsent(name, unused -> new ArrayList<>()).add(jar);
                addPackage(name);
            }
        } catch (IOException | RuntimeException error) {
            broken.add(path.getFileName().toString());
        }
    }

    private void addPackage(String name) {
        for (int end = name.length(); end > 0; end = name.lastIndexOf('.', end - 1)) {
            packages.add(name.substring(0, end));
        }
    }

    boolean hasPackage(String name) {
        return packages.contains(name);
    }

    /** A type by its package and its name there (`Map$Entry`); null when there is none. */
    IBinaryType find(String packageName, String name) {
        if (!packages.contains(packageName)) {
            return null;
        }
        return read.computeIfAbsent(packageName + "/" + name, unused -> Optional.ofNullable(load(packageName, name)))
                .orElse(null);
    }

    private IBinaryType load(String packageName, String name) {
        String file = (packageName.isEmpty() ? "" : packageName.replace('.', '/') + "/") + name + CLASS;
        for (String module : modules.getOrDefault(packageName, List.of())) {
            Path path = runtime.getPath("/modules", module, file);
            if (Files.exists(path)) {
                try {
                    return ClassFileReader.read(Files.readAllBytes(path), file);
                } catch (IOException | ClassFormatException error) {
                    return null;
                }
            }
        }
        for (ZipFile jar : jars.getOrDefault(packageName, List.of())) {
            ZipEntry entry = jar.getEntry(file);
            if (entry != null) {
                try (var stream = jar.getInputStream(entry)) {
                    return ClassFileReader.read(stream.readAllBytes(), file);
                } catch (IOException | ClassFormatException | RuntimeException error) {
                    return null;
                }
            }
        }
        return null;
    }
}
