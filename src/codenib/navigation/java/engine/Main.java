package javafacts;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Prints what the Java compiler of Eclipse resolves at every name of a repository: names of files on standard input,
 * one line of JSON facts per file on standard output, progress and a last-line report on standard error.
 */
public final class Main {
    private static final long STACK = 1L << 29;

    private Main() {}

    /** ROOT, `run` or `serve`, and the folders of local repositories. */
    public static void main(String[] arguments) throws InterruptedException {
        if (arguments.length < 2) {
            fail("usage: java-facts ROOT run|serve [REPOSITORY...]");
        }
        Thread thread = new Thread(null, () -> start(arguments), "facts", STACK); // trees can be deep
        thread.start();
        thread.join();
    }

    private static void start(String[] arguments) {
        try {
            Path root = Path.of(arguments[0]).toRealPath();
            List<Path> repositories =
                    Arrays.stream(arguments).skip(2).map(Path::of).toList();
            PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            if (arguments[1].equals("serve")) {
                new Server(root, repositories, out).serve(in);
            } else {
                run(root, repositories, in, out);
            }
            out.flush();
        } catch (IOException | UncheckedIOException error) {
            fail(error.toString());
        } catch (OutOfMemoryError error) {
            fail("the Java engine has too little memory");
        }
    }

    private static void run(Path root, List<Path> repositories, BufferedReader in, PrintStream out)
            throws IOException {
        List<String> files = new ArrayList<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            files.add(line);
        }
        Engine engine = new Engine(root, new ClassPath(root, repositories));
        engine.build(files, (path, line) -> print(out, line));
        out.flush();
        System.err.println("report " + engine.report());
    }

    static void print(PrintStream out, String line) {
        byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
        out.write(bytes, 0, bytes.length);
        out.write('\n');
    }

    static void fail(String message) {
        System.err.println("error " + message);
        System.exit(1);
    }
}
