"""A small repository of Java: two modules that share a type's name, and most of what one can declare."""

from __future__ import annotations

SHAPES = "core/src/main/java/shop/Shapes.java"
USES = "core/src/main/java/shop/Uses.java"
UNITS = "core/src/main/java/shop/units/Unit.java"
MODULE = "core/src/main/java/module-info.java"
OTHER = "other/src/main/java/shop/Uses.java"

FILES = {
    "core/pom.xml": "<project><groupId>g</groupId><artifactId>core</artifactId></project>\n",
    "other/pom.xml": "<project><groupId>g</groupId><artifactId>other</artifactId></project>\n",
    MODULE: "module shop { exports shop; provides shop.Shape with shop.Square; }\n",
    "core/src/main/java/shop/package-info.java": "/** Of {@link Shape shapes}. */\npackage shop;\n",
    "core/src/main/java/shop/Shape.java": """
        package shop;

        /** Something with an {@link #area() area}. */
        public interface Shape extends Comparable<Shape> {
            double area();

            default String label() { return "größe " + area(); }

            @Override
            default int compareTo(Shape other) { return Double.compare(area(), other.area()); }
        }
        """,
    "core/src/main/java/shop/Square.java": """
        package shop;

        public class Square implements Shape {
            private final double side;

            public Square() { this(1); }

            public Square(double side) { this.side = side; }

            @Override
            public double area() { return side * side; }

            static class Corner<T extends Shape> {
                T of;

                <U extends T> U as(Class<U> type) { return type.cast(of); }
            }
        }
        """,
    UNITS: """
        package shop.units;

        public enum Unit {
            METRE(1), FOOT(0.3) { @Override public double in() { return 1; } };

            public static final double EACH = 2;
            private final double size;

            Unit(double size) { this.size = size; }

            public double in() { return size; }

            public static double twice(double of) { return EACH * of; }

            public static int twice(int of) { return 2 * of; }
        }
        """,
    SHAPES: """
        package shop;

        import static shop.units.Unit.EACH;
        import static shop.units.Unit.twice;

        import java.util.ArrayList;
        import java.util.List;
        import java.util.function.Function;
        import shop.Square.Corner;
        import shop.units.Unit;

        record Pair(Shape left, Shape right) {
            Pair {
                if (left == null) { throw new IllegalArgumentException(); }
            }
        }

        class Shapes {
            private final List<Shape> all = new ArrayList<>();
            int count;

            double sum() {
                double total = 0;
                for (Shape each : all) { total += each.area(); }
                for (var each : all) { count = count + each.label().length(); }
                return twice(total) + twice(1) + EACH;
            }

            Function<Shape, String> labels() { return Shape::label; }

            Shape made() {
                Pair pair = new Pair(new Square(2), new Square());
                Corner<Square> corner = new Square.Corner<>();
                corner.as(Square.class).area();
                Runnable run = () -> { Shape inner = pair.left(); inner.area(); };
                return new Shape() {
                    @Override
                    public double area() { return pair.right().area() + Unit.FOOT.in() + this.own(); }

                    private double own() { return shop.units.Unit.valueOf("FOOT").in(); }
                };
            }

            /** As {@link Unit#twice}, of {@link java.util.stream}. */
            Object kind(Object of) {
                if (of instanceof Square square) { return square.area(); }
                return switch (of) {
                    case Pair(Shape l, var r) -> l.area() + r.area();
                    case Unit unit when unit == Unit.METRE -> unit.in();
                    default -> new far.away.Missing().call(Shape.class).area();
                };
            }
        }
        """,
    USES: """
        package shop;

        import far.away.Missing;

        class Uses {
            static Shape shape = new Square();
            Missing missing = new Missing(shape.area());

            Shape other = new Square(missing.size()) {};

            double go() { return missing.area() + shape.area() + Uses.shape.area(); }
        }
        """,
    OTHER: 'package shop;\n\nclass Uses {\n    static String shape = "";\n}\n',
    "other/src/main/java/shop/More.java": """
        package shop;

        class More {
            int go() { return Uses.shape.length(); }
        }
        """,
    "sample/Broken.java": "package nowhere;\nclass Broken {\n    void go() { shop.Shape s = ; s.area(); }\n",
}
NAMES = sorted(name for name in FILES if name.endswith(".java"))
