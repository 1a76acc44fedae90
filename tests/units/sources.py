"""One small source for each of the paper's languages and its units.

A unit is `first-last kind symbol`; `+` marks a container, which is not a leaf.
"""

from __future__ import annotations

CASES: dict[str, tuple[str, str]] = {}

CASES["python"] = (
    '''"""Module text."""
import os

# about the cache
@cache
def outer(a):
    def closure():
        return a
    return closure


@dataclass
class Shape(Base):
    """A shape."""
    sides = 0

    @property
    def area(self):
        return 0

    class Inner:
        def deep(self): ...

if os.name == "nt":
    async def windows():
        pass
''',
    """
1-3 module
4-11 function outer
12-22 +class Shape
12-16 body Shape
17-20 method Shape.area
21-22 +class Shape.Inner
21-21 body Shape.Inner
22-23 method Shape.Inner.deep
24-24 module
25-26 function windows
""",
)

CASES["go"] = (
    """package shapes

import "fmt"

// Shape is one.
type Shape struct {
	Sides int
}

type Area interface {
	Area() int
}

const Limit = 10

var (
	first  = 1
	second = 2
)

// Area of s.
func (s *Shape) Area() int {
	f := func() int { return 1 }
	return f()
}

func (l List[T]) Len() int { return 0 }

func New[T any]() *Shape {
	return nil
}
""",
    """
1-4 module
5-8 +struct Shape
5-9 body Shape
10-12 +interface Area
10-13 body Area
14-15 const Limit
16-20 var first
21-26 method Shape.Area
27-28 method List.Len
29-31 function New
""",
)

CASES["rust"] = (
    """//! Crate text.
use std::fmt;

/// A shape.
#[derive(
    Debug,
)]
pub struct Shape<T> {
    sides: T,
}

impl<T> fmt::Display for Shape<T> {
    /// Writes it.
    #[inline]
    fn fmt(&self) -> fmt::Result {
        fn inner() {}
        Ok(())
    }
}

trait Area {
    const UNIT: u8 = 1;
    /// Documented.
    fn area(&self) -> u32;
    fn twice(&self) -> u32 { 2 }
}

mod tests {
    #[test]
    fn works() {}
}

static NAME: &str = "x";
type Pair = (u8, u8);
macro_rules! shape {
    () => {};
}
""",
    """
1-3 module
4-10 +struct Shape
4-11 body Shape
12-19 +impl Shape
12-12 body Shape
13-20 method Shape.fmt
21-26 +trait Area
21-21 body Area
22-22 const Area.UNIT
23-24 method Area.area
25-27 method Area.twice
28-28 module
29-32 function tests.works
33-33 static NAME
34-34 type Pair
35-37 macro shape
""",
)

CASES["c"] = (
    """#include <stdio.h>
#define LIMIT 10
#define TWICE(x) \\
    ((x) * 2)

/* A shape. */
typedef struct {
    int sides;
} Shape;

struct point { int x; };
enum color { RED };

static const int table[] = {
    1, 2,
};

/* Area of it. */
static int *area(const Shape *shape)
{
    return 0;
}
#ifdef X
EXPORT size_t hidden(void) { return 1; }
#endif
int one(void) { return 1; } int two(void) { return 2; }
""",
    """
1-2 module
3-5 macro TWICE
6-9 +struct Shape
6-10 body Shape
11-11 +struct point
11-11 body point
12-12 +enum color
12-13 body color
14-17 variable table
18-22 function area
23-23 module
24-25 function hidden
26-26 function one
""",
)

CASES["cpp"] = (
    """#pragma once
namespace geo { namespace detail {

// A shape.
template <typename T>
class Shape : public Base {
 public:
  Shape() : sides_(0) {}
  /// Documented.
  virtual int area() const = 0;
  bool operator==(const Shape& other) const {
    return true;
  }
  struct Inner {
    void deep() {}
  };
 private:
  int sides_;
};

template <typename T>
int Shape<T>::area() const { return 0; }

}}  // namespace

extern "C" {
int exported(int a) { return a; }
}

class EXPORT Plain {
  int value() { return 1; }
};

TEST_CASE("shapes", "[geo]") {
  int a = 1;
}
""",
    """
1-3 module
4-19 +class geo.detail.Shape
4-7 body geo.detail.Shape
8-8 method geo.detail.Shape.Shape
9-10 method geo.detail.Shape.area
11-13 method geo.detail.Shape.operator==
14-16 +struct geo.detail.Shape.Inner
14-14 body geo.detail.Shape.Inner
15-16 method geo.detail.Shape.Inner.deep
17-20 body geo.detail.Shape
21-23 function geo.detail.Shape.area
24-26 module
27-29 function exported
30-32 +class Plain
30-30 body Plain
31-33 method Plain.value
34-36 block TEST_CASE
""",
)

CASES["typescript"] = (
    """import { a } from "a";

/** A shape. */
export interface Shape {
  sides: number;
}

export type Pair = {
  a: number;
};

enum Color { Red }

@Component({})
export abstract class Square implements Shape {
  sides = 4;
  private handler = async () => {
    return 1;
  };
  constructor(private x: number) {}
  /** Documented. */
  abstract area(): number;
  static of<T>(x: T): Square {
    return null;
  }
}

namespace geo {
  export function area(x: number): number {
    return x;
  }
}

export const double = (x: number) => x * 2;
export const table = [
  1,
];
export default function () {
  return 1;
}
""",
    """
1-2 module
3-6 +interface Shape
3-7 body Shape
8-11 type Pair
12-12 +enum Color
12-13 body Color
14-26 +class Square
14-16 body Square
17-19 method Square.handler
20-20 method Square.constructor
21-22 method Square.area
23-27 method Square.of
28-28 module
29-33 function geo.area
34-34 function double
35-37 variable table
38-40 function default
""",
)

CASES["tsx"] = (
    """/** Shows it. */
export const Panel: React.FC<Props> = ({ a }) => {
  const inner = () => a;
  return <div>{inner()}</div>;
};

export class View extends Component<Props> {
  render() {
    return <Panel<string> a={1} />;
  }
}

const Wrapped = memo(function Wrapped() {
  function local() {}
  return <p />;
});
""",
    """
1-6 function Panel
7-11 +class View
7-7 body View
8-12 method View.render
13-16 variable Wrapped
""",
)

CASES["javascript"] = (
    """'use strict';
const a = require('a');

/** Handles it. */
app.handle = function handle(req) {
  function inner() {}
};

Foo.prototype.bar = function () {
  return 1;
};

exports.run = () => 1;

const routes = {
  path: '/',
  get(req) {
    return 1;
  },
  nested: {
    post: function () {
      return 2;
    },
  },
};

class Shape extends Base {
  #x = 1;
  static make = () => {
    return 1;
  };
  get area() { return 0; }
}

(function () {
  var local = {
    a: 1,
  };
  function wrapped() {
    return local;
  }
})();

describe('shape', () => {
  const value = {
    a: 1,
  };
  it('has an area', () => {
    expect(1);
  });
  function helper() {
    return value;
  }
});
""",
    """
1-3 module
4-8 function app.handle
9-12 function Foo.bar
13-14 function run
15-25 +object routes
15-16 body routes
17-19 method routes.get
20-20 body routes
21-26 method routes.nested.post
27-33 +class Shape
27-28 body Shape
29-31 method Shape.make
32-34 method Shape.area
35-35 module
36-38 variable local
39-41 function wrapped
42-47 module
48-50 callback it
51-54 function helper
""",
)
