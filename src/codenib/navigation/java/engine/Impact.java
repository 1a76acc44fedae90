package javafacts;

import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import javafacts.Outline.Entry;

/**
 * What an edit may change in other files: names whose declarations are others now, and files whose types mean
 * something else to code that names neither.
 */
final class Impact {
    private final Set<String> names = new HashSet<>();
    private final Set<String> files = new HashSet<>();

    /** `before` and `after` have the edited files alone; `rest` are all others. */
    Impact(Map<String, Source> before, Map<String, Source> after, Collection<Source> rest) {
        Set<String> paths = new HashSet<>(before.keySet());
        paths.addAll(after.keySet());
        Set<String> types = new HashSet<>(); // that came or went: the same word may mean another type now
        for (String path : paths) {
            compare(path, entries(before.get(path)), entries(after.get(path)), types);
        }
        if (types.isEmpty()) {
            return;
        }
        for (Source file : rest) {
            addMentions(file, types);
        }
        after.values().forEach(file -> addMentions(file, types));
    }

    private static Map<String, Entry> entries(Source source) {
        return source == null ? Map.of() : source.outline.entries;
    }

    private void compare(String path, Map<String, Entry> before, Map<String, Entry> after, Set<String> types) {
        Set<String> keys = new HashSet<>(before.keySet());
        keys.addAll(after.keySet());
        for (String key : keys) {
            Entry old = before.get(key);
            Entry now = after.get(key);
            if (old != null && now != null && old.text().equals(now.text())) {
                continue;
            }
            Entry any = now == null ? old : now;
            add(path, any);
            if (any.isType() && (old == null || now == null)) {
                types.add(any.name());
            }
        }
    }

    private void add(String path, Entry entry) {
        names.add(entry.name());
        if (entry.implicit()) {
            files.add(path);
        }
    }

    private void addMentions(Source file, Set<String> types) {
        for (Entry entry : file.outline.entries.values()) {
            if (!Collections.disjoint(entry.mentions(), types)) {
                add(file.path, entry);
            }
        }
    }

    /** Whether a file's facts may be others; `typeFiles` are those of the types in its expressions. */
    boolean reaches(Source file, Set<String> typeFiles) {
        return !Collections.disjoint(file.identifiers(), names) || !Collections.disjoint(typeFiles, files);
    }
}
