package javafacts;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.eclipse.jdt.core.compiler.CharOperation;
import org.eclipse.jdt.internal.compiler.env.ICompilationUnit;
import org.eclipse.jdt.internal.compiler.lookup.LookupEnvironment;
import org.eclipse.jdt.internal.compiler.lookup.ModuleBinding;

/** A file of the checkout: its text, where its lines begin, and what a parse without bodies says of it. */
final class Source implements ICompilationUnit {
    private static final char BYTE_ORDER_MARK = '\uFEFF';

    final String path;
    final char[] text;
    final Outline outline;
    private final int[] lineStarts;
    private Set<String> identifiers;

    Source(String path, byte[] bytes) {
        this.path = path;
        this.text = new String(bytes, StandardCharsets.UTF_8).toCharArray();
        if (text.length > 0 && text[0] == BYTE_ORDER_MARK) {
            text[0] = ' '; // the parser knows no such mark, and places stay as they are
        }
        this.lineStarts = lineStarts(text);
        this.outline = Outline.of(this);
    }

    private static int[] lineStarts(char[] text) {
        int[] starts = new int[16];
        int count = 1;
        for (int at = 0; at < text.length; at++) {
            if (text[at] == '\n') {
                if (count == starts.length) {
                    starts = Arrays.copyOf(starts, 2 * count);
                }
                starts[count++] = at + 1;
            }
        }
        return Arrays.copyOf(starts, count);
    }

    /** The line of an offset, from 0. */
    int line(int offset) {
        int found = Arrays.binarySearch(lineStarts, offset);
        return found >= 0 ? found : -found - 2;
    }

    int column(int offset) {
        return offset - lineStarts[line(offset)];
    }

    /** Where `name` stands between two offsets, inclusive; -1 when it does not. */
    int find(char[] name, int from, int to) {
        int last = Math.min(to, text.length - 1) - name.length + 1;
        for (int at = Math.max(from, 0); at <= last; at++) {
            if (Arrays.equals(text, at, at + name.length, name, 0, name.length)
                    && !isPart(at - 1)
                    && !isPart(at + name.length)) {
                return at;
            }
        }
        return -1;
    }

    private boolean isPart(int at) {
        return at >= 0 && at < text.length && Character.isJavaIdentifierPart(text[at]);
    }

    /** Every identifier that is written in the file, comments and strings included. */
    Set<String> identifiers() {
        if (identifiers == null) {
            identifiers = identifiers(text, 0, text.length);
        }
        return identifiers;
    }

    static Set<String> identifiers(char[] text, int from, int to) {
        Set<String> found = new HashSet<>();
        for (int at = from; at < to; at++) {
            if (Character.isJavaIdentifierStart(text[at])) {
                int begin = at;
                while (at < to && Character.isJavaIdentifierPart(text[at])) {
                    at++;
                }
                found.add(new String(text, begin, at - begin).intern());
            }
        }
        return found;
    }

    @Override
    public char[] getContents() {
        return text;
    }

    @Override
    public char[] getFileName() {
        return path.toCharArray();
    }

    @Override
    public char[] getMainTypeName() {
        String name = path.substring(path.lastIndexOf('/') + 1);
        return name.substring(0, name.lastIndexOf('.')).toCharArray();
    }

    @Override
    public char[][] getPackageName() {
        String name = outline.packageName;
        return name.isEmpty() ? null : CharOperation.splitOn('.', name.toCharArray());
    }

    @Override
    public ModuleBinding module(LookupEnvironment environment) {
        return environment.UnNamedModule;
    }

    @Override
    public boolean ignoreOptionalProblems() {
        return true;
    }

    @Override
    public String toString() {
        return path;
    }
}
