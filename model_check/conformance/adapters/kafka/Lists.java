import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

import scala.collection.JavaConversions;
import scala.collection.Seq;

/** Lists of numbers, as JSON has them and as Scala does. */
final class Lists {
    static List<Integer> ints(Object given) {
        List<Integer> made = new ArrayList<>();
        for (Object one : (List<?>) given) made.add(((Long) one).intValue());
        return made;
    }

    static Seq<Object> seq(Object given) { return list(given); }

    static scala.collection.immutable.List<Object> list(Object given) {
        return JavaConversions.asScalaBuffer(new ArrayList<Object>(ints(given))).toList();
    }

    static List<Object> inOrder(Seq<?> given) {
        List<Object> made = new ArrayList<>();
        for (Object one : JavaConversions.seqAsJavaList(given)) made.add(((Integer) one).longValue());
        return made;
    }

    static List<Object> ascending(Seq<?> given) {
        TreeSet<Long> made = new TreeSet<>();
        for (Object one : inOrder(given)) made.add((Long) one);
        return new ArrayList<>(made);
    }
}
