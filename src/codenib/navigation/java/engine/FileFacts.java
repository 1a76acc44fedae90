package javafacts;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The facts of one file while they are gathered, and the line that they become. */
final class FileFacts {
    static final int DECLARATION = 1;
    static final int IMPORT = 2;
    static final int CALL = 4;
    static final int TYPE = 8;
    static final int WRITE = 16;
    static final int INHERIT = 32;
    static final int INEXACT = 64;
    static final int KEYWORD = 128;
    static final int LOCAL = 1;

    /** A declaration; its extent and its name are offsets, ends exclusive. */
    static final class Node {
        final String name;
        final String kind;
        final Node parent;
        final int start;
        final int end;
        final int nameStart;
        final int nameEnd;
        final boolean local;
        private int number;

        Node(String name, String kind, Node parent, int[] extent, int[] written, boolean local) {
            this.name = name;
            this.kind = kind;
            this.parent = parent;
            this.start = Math.max(Math.min(extent[0], written[0]), 0);
            this.end = Math.max(extent[1], written[1]);
            this.nameStart = written[0];
            this.nameEnd = written[1];
            this.local = local;
        }
    }

    private record Occurrence(int start, int end, int roles, List<Target> defs, List<Target> keys) {}

    private record Relation(String kind, Target source, Target to) {}

    final Source source;
    String scope = "project";
    int names; // in code, without declarations
    int unresolved; // of these
    /** Files with types that expressions of this file have, and with supertypes of these. */
    final Set<String> typeFiles = new HashSet<>();

    /** Imported types that are nowhere. */
    final List<String> missing = new ArrayList<>();

    private final List<Node> nodes = new ArrayList<>();
    private final Map<Integer, Occurrence> occurrences = new HashMap<>();
    private final Set<Relation> relations = new HashSet<>();

    FileFacts(Source source) {
        this.source = source;
    }

    Node add(Node node) {
        nodes.add(node);
        return node;
    }

    /** Add an occurrence; the first one at an offset stays. `defs` is null where nothing is known. */
    void add(int start, int length, int roles, List<Target> defs, List<Target> keys) {
        occurrences.putIfAbsent(start, new Occurrence(start, start + length, roles, defs, keys));
    }

    boolean hasAt(int start) {
        return occurrences.containsKey(start);
    }

    void relate(String kind, Target from, Target to) {
        relations.add(new Relation(kind, from, to));
    }

    /** The line of the file, as docs/navigation.md describes it. Equal facts give equal lines. */
    String line() {
        nodes.sort(
                Comparator.<Node>comparingInt(node -> node.start)
                        .thenComparing(Comparator.<Node>comparingInt(node -> node.end).reversed())
                        .thenComparingInt(FileFacts::depth)
                        .thenComparingInt(node -> node.nameStart));
        List<Node> ordered = parentsFirst();
        List<Occurrence> rows = new ArrayList<>(occurrences.values());
        rows.sort(Comparator.comparingInt(Occurrence::start));
        List<Relation> related = new ArrayList<>(relations);
        related.sort(
                Comparator.comparing(Relation::kind).thenComparing(Relation::source).thenComparing(Relation::to));
        Map<Target, Integer> targets = numbered(rows, related);
        Json.Writer out = new Json.Writer();
        out.begin('{').key("path").text(source.path).key("encoding").text("utf-16");
        out.key("nodes").begin('[');
        ordered.forEach(node -> write(out, node));
        out.end(']').key("targets").begin('[');
        targets.keySet().forEach(target -> write(out, target));
        out.end(']');
        writeOccurrences(out, rows, targets);
        out.key("relations").begin('[');
        for (Relation each : related) {
            out.begin('[').text(each.kind).number(targets.get(each.source)).number(targets.get(each.to)).end(']');
        }
        return out.end(']').key("scope").text(scope).end('}').toString();
    }

    private static int depth(Node node) {
        int depth = 0;
        for (Node at = node.parent; at != null; at = at.parent) {
            depth++;
        }
        return depth;
    }

    /** In source order, but for a child whose text stands before its parent's. */
    private List<Node> parentsFirst() {
        List<Node> ordered = new ArrayList<>();
        Set<Node> placed = new HashSet<>();
        for (Node node : nodes) {
            place(node, ordered, placed);
        }
        return ordered;
    }

    private void place(Node node, List<Node> ordered, Set<Node> placed) {
        if (node == null || !placed.add(node)) {
            return;
        }
        place(node.parent, ordered, placed);
        node.number = ordered.size();
        ordered.add(node);
    }

    private static Map<Target, Integer> numbered(Collection<Occurrence> rows, Collection<Relation> related) {
        TreeSet<Target> all = new TreeSet<>();
        for (Occurrence row : rows) {
            all.addAll(row.defs == null ? List.of() : row.defs);
            all.addAll(row.keys == null ? List.of() : row.keys);
        }
        for (Relation each : related) {
            all.add(each.source);
            all.add(each.to);
        }
        Map<Target, Integer> numbers = new java.util.LinkedHashMap<>();
        all.forEach(target -> numbers.put(target, numbers.size()));
        return numbers;
    }

    private void write(Json.Writer out, Node node) {
        out.begin('[').text(node.name).text(node.kind).number(node.parent == null ? -1 : node.parent.number);
        out.number(source.line(node.start)).number(source.column(node.start));
        out.number(source.line(node.end)).number(source.column(node.end));
        out.number(source.line(node.nameStart)).number(source.column(node.nameStart));
        out.number(source.column(node.nameStart) + node.nameEnd - node.nameStart);
        out.number(node.local ? LOCAL : 0).end(']');
    }

    private static void write(Json.Writer out, Target target) {
        if (target.isOutside()) {
            out.text(target.outside());
        } else {
            out.begin('[').text(target.path()).number(target.line()).number(target.column()).end(']');
        }
    }

    private void writeOccurrences(Json.Writer out, List<Occurrence> rows, Map<Target, Integer> targets) {
        Map<List<Integer>, Integer> lists = new java.util.LinkedHashMap<>();
        List<Integer> numbers = new ArrayList<>();
        for (Occurrence row : rows) {
            numbers.addAll(List.of(source.line(row.start), source.column(row.start)));
            numbers.addAll(List.of(source.line(row.end), source.column(row.end), row.roles));
            numbers.add(listed(row.defs, targets, lists));
            numbers.add(listed(row.keys, targets, lists));
            numbers.add(-1);
        }
        out.key("lists").begin('[');
        for (List<Integer> list : lists.keySet()) {
            out.begin('[');
            list.forEach(out::number);
            out.end(']');
        }
        out.end(']').key("occurrences").begin('[');
        numbers.forEach(out::number);
        out.end(']');
    }

    private static int listed(List<Target> list, Map<Target, Integer> targets, Map<List<Integer>, Integer> lists) {
        if (list == null) {
            return -1;
        }
        List<Integer> numbers = list.stream().map(targets::get).sorted().distinct().toList();
        lists.putIfAbsent(numbers, lists.size());
        return lists.get(numbers);
    }
}
