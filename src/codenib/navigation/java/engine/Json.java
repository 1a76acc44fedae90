package javafacts;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** As much JSON as requests and lines need: objects, arrays, texts, numbers, true and false. */
final class Json {
    private Json() {}

    /** Writes values one after another; commas come by themselves. */
    static final class Writer {
        private final StringBuilder out = new StringBuilder();
        private boolean first = true;

        Writer begin(char bracket) {
            separate();
            out.append(bracket);
            first = true;
            return this;
        }

        Writer end(char bracket) {
            out.append(bracket);
            first = false;
            return this;
        }

        Writer key(String name) {
            text(name);
            out.append(':');
            first = true;
            return this;
        }

        Writer number(long value) {
            separate();
            out.append(value);
            return this;
        }

        Writer text(String value) {
            separate();
            out.append('"');
            for (int at = 0; at < value.length(); at++) {
                char here = value.charAt(at);
                if (here == '"' || here == '\\') {
                    out.append('\\').append(here);
                } else if (here < ' ' || Character.isSurrogate(here) && !isPair(value, at)) {
                    out.append(here < ' ' ? String.format("\\u%04x", (int) here) : "\ufffd");
                } else {
                    out.append(here);
                }
            }
            out.append('"');
            return this;
        }

        private static boolean isPair(String value, int at) {
            return Character.isHighSurrogate(value.charAt(at))
                    ? at + 1 < value.length() && Character.isLowSurrogate(value.charAt(at + 1))
                    : at > 0 && Character.isHighSurrogate(value.charAt(at - 1));
        }

        Writer texts(Iterable<String> values) {
            begin('[');
            values.forEach(this::text);
            return end(']');
        }

        private void separate() {
            if (!first) {
                out.append(',');
            }
            first = false;
        }

        @Override
        public String toString() {
            return out.toString();
        }
    }

    /** The value of a text: `Map`, `List`, `String`, `Double`, `Boolean` or null. */
    static Object parse(String text) {
        return new Reader(text).value();
    }

    private static final class Reader {
        private final String text;
        private int at;

        Reader(String text) {
            this.text = text;
        }

        Object value() {
            skip();
            switch (text.charAt(at)) {
                case '{':
                    return object();
                case '[':
                    return array();
                case '"':
                    return string();
                default:
                    return word();
            }
        }

        private Map<String, Object> object() {
            Map<String, Object> found = new HashMap<>();
            at++;
            for (skip(); text.charAt(at) != '}'; skip()) {
                String key = string();
                skip();
                at++; // the colon
                found.put(key, value());
                skip();
                if (text.charAt(at) == ',') {
                    at++;
                }
            }
            at++;
            return found;
        }

        private List<Object> array() {
            List<Object> found = new ArrayList<>();
            at++;
            for (skip(); text.charAt(at) != ']'; skip()) {
                found.add(value());
                skip();
                if (text.charAt(at) == ',') {
                    at++;
                }
            }
            at++;
            return found;
        }

        private String string() {
            StringBuilder out = new StringBuilder();
            for (at++; text.charAt(at) != '"'; at++) {
                char here = text.charAt(at);
                if (here != '\\') {
                    out.append(here);
                    continue;
                }
                here = text.charAt(++at);
                if (here == 'u') {
                    out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                    at += 4;
                } else {
                    int escape = "nrtbf".indexOf(here);
                    out.append(escape < 0 ? here : "\n\r\t\b\f".charAt(escape));
                }
            }
            at++;
            return out.toString();
        }

        private Object word() {
            int begin = at;
            while (at < text.length() && ",]}".indexOf(text.charAt(at)) < 0) {
                at++;
            }
            String word = text.substring(begin, at).strip();
            return switch (word) {
                case "true" -> Boolean.TRUE;
                case "false" -> Boolean.FALSE;
                case "null" -> null;
                default -> Double.valueOf(word);
            };
        }

        private void skip() {
            while (Character.isWhitespace(text.charAt(at))) {
                at++;
            }
        }
    }
}
