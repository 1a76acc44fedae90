"""A small repository with two Go modules that holds what is hard to answer: files by path."""

from __future__ import annotations

FILES = {
    "go.mod": """
        module example.com/m

        go 1.23
    """,
    "main.go": """
        package main

        import (
            "fmt"
            "io"
            str "strings"

            "example.com/m/shapes"
            . "example.com/m/units"
            _ "example.com/m/shapes/deep"
        )

        type logger struct {
            io.Writer
            *shapes.Base
            name string
        }

        func (l logger) Area() Meter { return Meter(len(l.name)) }

        var _ shapes.Shape = logger{name: "é"}

        func main() {
            l := logger{Base: &shapes.Base{ID: 1}, name: str.ToUpper("x")}
            all := []shapes.Shape{l, &shapes.Square{Side: 2}}
            for i, each := range all {
                fmt.Fprintln(l, i, each.Area(), l.ID, l.Base.ID, shapes.Sum(all...))
            }
            box := shapes.Box[int]{Value: 3}
            text := shapes.Map(box, func(v int) string { return fmt.Sprint(v) })
            n, err := fmt.Println(box.Get(), box.Value, text)
            _, err = n, err
        }
    """,
    "units/units.go": """
        package units

        // Meter is what [Convert] makes, see [fmt.Stringer] and [Meter.Feet].
        type Meter float64

        const (
            First = iota
            Second
        )

        func (m Meter) Feet() float64 { return float64(m) * factor }

        func Convert(value float64) (result Meter, err error) {
            result = Meter(value)
            return result, nil
        }
    """,
    "units/factor_windows.go": """
        package units

        var factor = precise(Second)

        func precise(digits int) float64 { return float64(digits) + float64(Meter(1)) }
    """,
    "units/factor.go": """
        //go:build !windows

        package units

        const factor = 3.28
    """,
    "shapes/shapes.go": """
        // Package shapes has shapes.
        package shapes

        import "example.com/m/units"

        type Shape interface {
            Area() units.Meter
        }

        type Named interface {
            Shape
            Name() string
        }

        type Base struct{ ID int }

        func (b *Base) Name() string { return "base" }

        type Square struct {
            Base
            Side  units.Meter
            parts struct{ left, right int }
        }

        func (s *Square) Area() units.Meter { s.parts.left++; return s.Side * s.Side }

        func Sum(all ...Shape) (total units.Meter) {
        outer:
            for _, shape := range all {
                switch s := shape.(type) {
                case *Square:
                    total += s.Area()
                case Named:
                    _ = s.Name()
                    continue outer
                default:
                    _ = s
                }
            }
            return
        }
    """,
    "shapes/generic.go": """
        package shapes

        type Number interface{ ~int | ~float64 }

        type Box[T any] struct{ Value T }

        func (b Box[T]) Get() T { return b.Value }

        func Map[A, B any](in Box[A], f func(A) B) Box[B] {
            var out Box[B]
            out.Value = f(in.Get())
            return out
        }

        func largest[N Number](a, b N) N {
            if a > b {
                return a
            }
            return b
        }

        var Largest = largest[int](1, 2)
    """,
    "shapes/deep/deep.go": """
        package deep

        import "example.com/m/shapes"

        type Area interface{ Area() float64 }

        type named struct{ shapes.Named }

        func Use(n shapes.Named) string { return named{n}.Name() + n.Name() }
    """,
    "shapes/shapes_test.go": """
        package shapes

        import "testing"

        func (s *Square) Half() *Square { return &Square{Side: s.Side / 2} }

        func TestSum(t *testing.T) {
            square := &Square{Side: 2}
            if Sum(square, square.Half()) != 5 {
                t.Fatal(square.parts.right)
            }
        }
    """,
    "shapes/outer_test.go": """
        package shapes_test

        import (
            "testing"

            "example.com/m/shapes"
        )

        func TestHalf(t *testing.T) {
            if (&shapes.Square{Side: 4}).Half().Area() != 4 {
                t.Error(shapes.Largest)
            }
        }
    """,
    "tagged.go": """
        //go:build special

        package main

        import "example.com/m/units"

        func special() units.Meter { return units.Meter(missing()) }
    """,
    "only/tagged.go": """
        //go:build special

        package only

        import "example.com/m/units"

        func special() units.Meter { return units.Meter(missing(special)) }
    """,
    "script.go": """
        //go:build ignore

        package main

        import "example.com/m/units"

        func main() { println(units.First, helper()) }

        func helper() units.Meter { return 1 }
    """,
    "nested/go.mod": """
        module example.com/nested

        go 1.23

        require example.com/m v0.0.0

        replace example.com/m => ../
    """,
    "nested/nested.go": """
        package nested

        import "example.com/m/shapes"

        type Ring struct{ shapes.Base }

        func Total(all []shapes.Shape) float64 { return float64(shapes.Sum(all...)) }

        func (r Ring) Again() string { return r.Name() }
    """,
    "nested/plate.go": """
        package nested

        import "example.com/m/units"

        type Plate struct{}

        func (p Plate) Area() units.Meter { return 1 }
    """,
    "painted/painted.go": """
        //go:build special

        package painted

        import "example.com/m/units"

        type Painted struct{}

        func (p Painted) Area() units.Meter { return 1 }
    """,
    "_examples/all/all.go": """
        package main

        import "example.com/m/shapes"

        func main() { println(first(&shapes.Square{Side: 2})) }

        func first(shape shapes.Shape) float64 { return float64(shape.Area()) }
    """,
    "zz/testdata/extra/extra.go": """
        package extra

        import "example.com/m/units"

        func Extra() units.Meter { return Twice() + units.Meter(1) }

        func Twice() units.Meter { return 2 }
    """,
}  # fmt: skip
