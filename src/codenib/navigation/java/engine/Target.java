package javafacts;

/** What an occurrence refers to: the name of a declaration in a file, or something outside by a stable name. */
record Target(String path, int line, int column, String outside) implements Comparable<Target> {
    /** Names that nothing resolved are targets too, so that a search for the name can list them. */
    static final String UNRESOLVED = "unresolved#";

    static Target at(Source source, int offset) {
        return new Target(source.path, source.line(offset), source.column(offset), "");
    }

    static Target outside(String name) {
        return new Target("", 0, 0, name);
    }

    static Target unresolved(String name) {
        return outside(UNRESOLVED + name);
    }

    boolean isOutside() {
        return path.isEmpty();
    }

    @Override
    public int compareTo(Target other) {
        int byPath = path.compareTo(other.path);
        int byLine = byPath != 0 ? byPath : Integer.compare(line, other.line);
        int byColumn = byLine != 0 ? byLine : Integer.compare(column, other.column);
        return byColumn != 0 ? byColumn : outside.compareTo(other.outside);
    }
}
