package javafacts;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The resident engine: requests on standard input, one line of JSON each, answers on standard output.
 *
 * <pre>
 * {"sync": FILES, "changed": PATHS}   the current files, and which of them changed, came or went
 * {"lines": FILES, "anew": BOOL}      the lines that differ from those sent last (or all), and {"same": PATHS}
 * </pre>
 *
 * After an answer comes {"end": COUNT}.
 */
final class Server {
    private final Path root;
    private final List<Path> repositories;
    private final PrintStream out;
    private List<String> files = List.of();
    private final Set<String> changed = new HashSet<>();
    private Map<String, byte[]> sent = new HashMap<>();
    private Engine engine;
    private ClassPath classPath;

    Server(Path root, List<Path> repositories, PrintStream out) {
        this.root = root;
        this.repositories = repositories;
        this.out = out;
    }

    void serve(BufferedReader in) throws IOException {
        for (String text = in.readLine(); text != null; text = in.readLine()) {
            Map<?, ?> request = (Map<?, ?>) Json.parse(text);
            int count = 0;
            if (request.containsKey("sync")) {
                files = texts(request.get("sync"));
                changed.addAll(texts(request.get("changed")));
            } else {
                count = lines(Boolean.TRUE.equals(request.get("anew")));
            }
            Main.print(out, "{\"end\": " + count + "}");
            out.flush();
        }
    }

    private static List<String> texts(Object list) {
        List<String> found = new ArrayList<>();
        for (Object each : (List<?>) list) {
            found.add((String) each);
        }
        return found;
    }

    private int lines(boolean anew) throws IOException {
        TreeMap<String, String> fresh = new TreeMap<>();
        Map<String, byte[]> digests = new HashMap<>();
        ClassPath now = new ClassPath(root, repositories);
        boolean others = engine == null || !now.readsTheSameAs(classPath) && !now.jars().equals(classPath.jars());
        classPath = now;
        if (others || anew) {
            engine = new Engine(root, classPath);
            sent = anew ? new HashMap<>() : sent;
            engine.build(files, fresh::put);
        } else {
            engine.update(files, changed.stream().filter(path -> path.endsWith(".java")).toList(), fresh::put);
        }
        changed.clear();
        Set<String> same = new HashSet<>();
        for (String path : files) {
            String line = fresh.get(path);
            byte[] before = sent.get(path);
            byte[] digest = line == null ? before : digest(line);
            digests.put(path, digest);
            if (Arrays.equals(before, digest)) {
                same.add(path);
                fresh.remove(path);
            }
        }
        sent = digests;
        fresh.values().forEach(line -> Main.print(out, line));
        Json.Writer report = new Json.Writer().begin('{').key("same").texts(same).end('}');
        String text = report.toString();
        Main.print(out, "{\"report\":" + engine.report() + "," + text.substring(1));
        return fresh.size();
    }

    private static byte[] digest(String line) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(line.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }
}
