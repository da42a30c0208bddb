import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON as maps, lists, texts, longs, booleans and null. */
final class Json {
    private final String text;
    private int at;

    Json(String text) { this.text = text; }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) { return (Map<String, Object>) value; }

    static int number(Object value) { return ((Long) value).intValue(); }

    Object value() {
        skip();
        char first = text.charAt(at);
        if (first == '{') return object();
        if (first == '[') return array();
        if (first == '"') return string();
        for (String word : List.of("true", "false", "null"))
            if (text.startsWith(word, at)) {
                at += word.length();
                return word.equals("null") ? null : (Object) word.equals("true");
            }
        int start = at;
        while (at < text.length() && "+-0123456789.eE".indexOf(text.charAt(at)) >= 0) at++;
        return Long.parseLong(text.substring(start, at));
    }

    private Map<String, Object> object() {
        Map<String, Object> made = new LinkedHashMap<>();
        for (at++, skip(); text.charAt(at) != '}'; skip()) {
            String key = string();
            skip();
            at++;  // the colon
            made.put(key, value());
            skip();
            if (text.charAt(at) == ',') { at++; skip(); }
        }
        at++;
        return made;
    }

    private List<Object> array() {
        List<Object> made = new ArrayList<>();
        for (at++, skip(); text.charAt(at) != ']'; skip()) {
            made.add(value());
            skip();
            if (text.charAt(at) == ',') { at++; skip(); }
        }
        at++;
        return made;
    }

    private String string() {
        StringBuilder made = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            char one = text.charAt(at);
            if (one != '\\') { made.append(one); continue; }
            one = text.charAt(++at);
            if (one == 'u') {
                made.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                at += 4;
            } else made.append("\"\\/bfnrt".indexOf(one) >= 3 ? "\b\f\n\r\t".charAt("bfnrt".indexOf(one)) : one);
        }
        at++;
        return made.toString();
    }

    private void skip() { while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++; }

    static String text(Object value) {
        if (value instanceof Map) {
            List<String> parts = new ArrayList<>();
            object(value).forEach((key, one) -> parts.add(text(key) + ":" + text(one)));
            return "{" + String.join(",", parts) + "}";
        }
        if (value instanceof List) {
            List<String> parts = new ArrayList<>();
            for (Object one : (List<?>) value) parts.add(text(one));
            return "[" + String.join(",", parts) + "]";
        }
        if (!(value instanceof String)) return String.valueOf(value);
        StringBuilder made = new StringBuilder("\"");
        for (char one : ((String) value).toCharArray()) {
            if (one == '"' || one == '\\') made.append('\\').append(one);
            else if (one < ' ') made.append(String.format("\\u%04x", (int) one));
            else made.append(one);
        }
        return made.append('"').toString();
    }
}
