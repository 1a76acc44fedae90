"""Small Cargo projects as data: every kind of name that rust-analyzer treats in a way of its own."""

from __future__ import annotations

#: Two crates with tests, a shared test module and a build script that must not run.
FILES = {
    "Cargo.toml": """
        [workspace]
        members = ["shapes", "app"]
        resolver = "2"
    """,
    "shapes/Cargo.toml": """
        [package]
        name = "shapes"
        version = "0.1.0"
        edition = "2021"

        [features]
        solid = []
    """,
    "shapes/build.rs": """
        fn main() {
            std::fs::write("../ran-build-script", "yes").unwrap();
        }
    """,
    "shapes/src/lib.rs": """
        //! Shapes, see [`Area`] and [text](crate::round::Circle).
        pub mod round;
        #[cfg(feature = "solid")]
        pub mod solid;
        mod hidden { pub(super) const LIMIT: u32 = 3; }
        pub use round::Circle as Disc;

        pub trait Named { fn name(&self) -> u32; }
        pub trait Area: Named {
            type Unit;
            const SIDES: u32;
            fn area(&self) -> Self::Unit;
            fn twice(&self) -> Self::Unit { self.area() }
        }
        #[derive(Clone)]
        pub struct Square<T> { pub side: T, label: u32 }
        pub struct Pair(pub u32, u32);
        pub enum Kind { Empty, One(u32), Two { left: u32, right: u32 } }
        pub type Small = Square<u32>;

        impl<T> Square<T> {
            pub fn new(side: T) -> Self { let label = hidden::LIMIT; Self { side, label } }
            pub fn label(&self) -> u32 { self.label }
        }
        impl Named for Small { fn name(&self) -> u32 { self.label } }
        impl Area for Small {
            type Unit = u32;
            const SIDES: u32 = 4;
            fn area(&self) -> Self::Unit { self.side * self.side }
        }

        macro_rules! make {
            ($name:ident, $value:expr) => { pub fn $name() -> u32 { let inner = $value; inner } };
        }
        make!(made, 7);

        pub fn kinds(kind: Kind) -> u32 {
            let total = 'outer: loop {
                match kind {
                    Kind::Empty => break 'outer 0,
                    Kind::One(n) | Kind::Two { left: n, right: _ } => break 'outer n,
                }
            };
            let Kind::Two { left, right } = (Kind::Two { left: total, right: 1 }) else { return made() };
            println!("{left} {total:?}", );
            left + right
        }
        pub fn longest<'a, 'b: 'a>(one: &'a str, two: &'b str) -> &'a str {
            if one.len() > 1 { one } else { two }
        }
        pub fn sides<S: Area>(shape: &S) -> u32 where S::Unit: Copy { let _ = shape.twice(); S::SIDES }
        #[cfg(windows)]
        pub fn never() { made(); }
        #[cfg(test)]
        mod tests {
            use super::*;
            #[test]
            fn small() { let pair = Pair(1, 2); assert_eq!(pair.0 + pair.1, Small::new(2).area()); }
        }
    """,
    "shapes/src/round.rs": """
        use super::{Area, Named};
        pub struct Circle { pub radius: u32 }
        impl Named for Circle { fn name(&self) -> u32 { self.radius } }
        impl Area for Circle {
            type Unit = u32;
            const SIDES: u32 = 0;
            fn area(&self) -> u32 { crate::made() * self.radius }
        }
        impl From<u32> for Circle { fn from(radius: u32) -> Circle { Circle { radius } } }

        pub trait Holds { type Held; fn held() -> u32; }
        pub struct Ring;
        impl Holds for Ring {
            type Held = Circle;
            fn held() -> u32 { Self::Held::unit().radius + <Self as Holds>::Held::of(2).radius }
        }
        impl Circle {
            pub fn unit() -> Self { Self::of(1) }
            fn of(radius: u32) -> Circle { assert!(Self::none().is_none()); Self { radius } }
            fn none() -> Option<Self> { None }
        }
        macro_rules! build { ($kind:ident) => { $kind::unit() } }
        pub fn built() -> u32 { build!(Circle).radius + crate::Disc::unit().radius }
    """,
    "shapes/src/solid.rs": """
        pub fn volume(side: u32) -> u32 { cube(side) }
        fn cube(side: u32) -> u32 { side * side * side }
    """,
    "shapes/src/orphan.rs": "pub fn lonely() { alone(); }\nfn alone() {}\n",
    "fuzz/Cargo.toml": """
        [package]
        name = "fuzz"
        version = "0.1.0"
        edition = "2021"

        [dependencies]
        shapes = { path = "../shapes" }

        [workspace]
    """,
    "fuzz/src/main.rs": "fn main() { shapes::kinds(shapes::Kind::Empty); }\n",
    "app/Cargo.toml": """
        [package]
        name = "app"
        version = "0.1.0"
        edition = "2021"
        [dependencies]
        shapes = { path = "../shapes" }
    """,
    "app/src/main.rs": """
        use shapes::{Area, Disc, Kind, Small, kinds as count};
        mod parts;
        fn main() {
            let disc = Disc::from(3);
            let square = Small::new(2);
            let sum = [disc.area(), square.area()].iter().map(|each| each + 1).sum::<u32>();
            println!("{} {sum} é {square}", count(Kind::One(parts::helper(sum))), square = square.side);
        }
    """,
    "app/src/parts.rs": "pub fn helper(value: u32) -> u32 { value }\n",
    "app/tests/one.rs": """
        mod common;
        #[test]
        fn one() { common::shared(); }
    """,
    "app/tests/two.rs": """
        mod common;
        #[test]
        fn two() { common::shared(); }
    """,
    "app/tests/common/mod.rs": "pub fn shared() { inner(); }\nfn inner() {}\n",
}  # fmt: skip

#: A crate that uses a procedural macro.
MACROS = {
    "Cargo.toml": """
        [package]
        name = "user"
        version = "0.1.0"
        edition = "2021"
        [dependencies]
        maker = { path = "maker" }
    """,
    "build.rs": """
        fn main() {
            std::fs::write("ran", "yes").unwrap();
        }
    """,
    "src/lib.rs": """
        pub fn chosen() {}
        pub fn call() { maker::pick!(chosen) }
    """,
    "maker/Cargo.toml": """
        [package]
        name = "maker"
        version = "0.1.0"
        edition = "2021"
        [lib]
        proc-macro = true
    """,
    "maker/src/lib.rs": """
        use proc_macro::TokenStream;
        #[proc_macro]
        pub fn pick(name: TokenStream) -> TokenStream {
            let mut call = name;
            call.extend("()".parse::<TokenStream>().unwrap());
            call
        }
    """,
}  # fmt: skip
