"""One small source for each of the other languages and its units.

A unit is `first-last kind symbol`; `+` marks a container, which is not a leaf.
"""

from __future__ import annotations

CASES: dict[str, tuple[str, str]] = {}

CASES["java"] = (
    """package geo;

import java.util.List;

/** A shape. */
@Entity
public class Shape<T> extends Base {
    private int sides = 0;
    static {
        init();
    }

    public Shape() {}

    /** Area. */
    @Override
    public int area() {
        Runnable r = () -> {};
        return 0;
    }

    enum Color { RED; int code() { return 1; } }
}

interface Area {
    /** Documented. */
    int area();
    int plain();
}

record Point(int x) {}
""",
    """
1-4 module
5-23 +class Shape
5-8 body Shape
9-12 initializer Shape.static
13-14 constructor Shape.Shape
15-21 method Shape.area
22-22 +enum Shape.Color
22-24 method Shape.Color.code
25-29 +interface Area
25-25 body Area
26-27 method Area.area
28-30 body Area
31-31 +record Point
31-31 body Point
""",
)

CASES["csharp"] = (
    """using System;

namespace Geo
{
    /// <summary>A shape.</summary>
    [Serializable]
    public class Shape<T> : Base
    {
        private int sides = 0;
        public int Sides
        {
            get { return sides; }
        }
        public Shape() { }
        /// <summary>Area.</summary>
        public override int Area<U>(U x)
        {
            int Local() { return 1; }
            return 0;
        }
        struct Inner { void Deep() { } }
    }

    interface IArea { int Area(); }
    record Point(int X);
}
""",
    """
1-4 module
5-22 +class Shape
5-9 body Shape
10-13 property Shape.Sides
14-14 constructor Shape.Shape
15-20 method Shape.Area
21-21 +struct Shape.Inner
21-23 method Shape.Inner.Deep
24-24 +interface IArea
24-24 body IArea
25-25 +record Point
25-26 body Point
""",
)

CASES["ruby"] = (
    """require 'set'

module Geo
  # A shape.
  class Shape < Base
    attr_reader :sides

    # Area.
    def area
      [1].map { |x| x }
    end

    def self.make(a)
      new(a)
    end

    class << self
      def other; end
    end

    TABLE = {
      a: 1,
    }
  end
end

def top
  1
end
""",
    """
1-3 module
4-24 +class Geo.Shape
4-7 body Geo.Shape
8-12 method Geo.Shape.area
13-16 method Geo.Shape.make
17-17 body Geo.Shape
18-20 method Geo.Shape.other
21-26 const Geo.Shape.TABLE
27-29 function top
""",
)

CASES["php"] = (
    """<?php
namespace Geo;

use Base;

/** A shape. */
#[Entity]
final class Shape extends Base {
    const LIMIT = 1;
    private $sides = 0;

    /** Area. */
    public function area(): int {
        $f = function () { return 1; };
        return 0;
    }
}

interface Area { function area(); }
trait Named { function name() { return ''; } }

/** Top. */
function top() {
    return 1;
}
""",
    """
1-5 module
6-17 +class Shape
6-11 body Shape
12-18 method Shape.area
19-19 +interface Area
19-19 body Area
20-20 +trait Named
20-21 method Named.name
22-25 function top
""",
)

CASES["kotlin"] = (
    """package geo

import kotlin.math.PI

/** A shape. */
@Serializable
data class Shape(val sides: Int) : Base() {
    val half = 1

    init {
        check(true)
    }

    /** Area. */
    override fun area(): Int {
        fun local() = 1
        return local()
    }

    companion object {
        fun make() = Shape(1)
    }
}

interface Area {
    fun area(): Int
}

object Registry {
    fun get() = 1
}

fun String.shout(): String = uppercase()
""",
    """
1-4 module
5-23 +class Shape
5-9 body Shape
10-13 initializer Shape.init
14-19 method Shape.area
20-22 +object Shape.companion
20-20 body Shape.companion
21-24 method Shape.companion.make
25-27 +interface Area
25-25 body Area
26-28 method Area.area
29-31 +object Registry
29-29 body Registry
30-32 method Registry.get
33-33 function shout
""",
)

CASES["scala"] = (
    """package geo

import scala.math.Pi

/** A shape. */
@SerialVersionUID(1)
class Shape(sides: Int) extends Base {
  val half = 1

  /** Area. */
  def area(x: Int): Int = {
    def local = 1
    local
  }
}

object Shape {
  def make() = new Shape(1)
}

trait Area { def area: Int }

case class Point(x: Int)
""",
    """
1-4 module
5-15 +class Shape
5-9 body Shape
10-16 method Shape.area
17-19 +object Shape
17-17 body Shape
18-20 method Shape.make
21-21 +trait Area
21-22 body Area
23-23 +class Point
23-23 body Point
""",
)

CASES["swift"] = (
    """import Foundation

/// A shape.
@objc
public class Shape: Base {
    var sides = 0
    init(sides: Int) {
        self.sides = sides
    }
    /// Area.
    func area<T>(x: T) -> Int {
        func local() {}
        return 0
    }
    struct Inner { func deep() {} }
}

protocol Area { func area() -> Int }

extension Shape: Area {
    func other() {}
}

enum Color { case red }

func top() {}
""",
    """
1-2 module
3-16 +class Shape
3-6 body Shape
7-9 constructor Shape.init
10-14 method Shape.area
15-15 +struct Shape.Inner
15-17 method Shape.Inner.deep
18-18 +protocol Area
18-19 body Area
20-22 +extension Shape
20-20 body Shape
21-23 method Shape.other
24-24 +enum Color
24-25 body Color
26-26 function top
""",
)

CASES["lua"] = (
    """local M = {}

-- Area of it.
function M.area(x)
  local function inner() end
  return 0
end

function M:sides() return 1 end

local function helper()
  return 1
end

M.other = function()
  return 2
end

local handlers = {
  open = function()
    return 1
  end,
}

return M
""",
    """
1-2 module
3-8 function M.area
9-10 function M.sides
11-14 function helper
15-18 function M.other
19-23 +object handlers
19-19 body handlers
20-24 method handlers.open
25-25 module
""",
)

CASES["bash"] = (
    """#!/bin/bash
# Greets.
greet() {
  inner() { echo; }
  echo hello
}

function leave {
  echo bye
}

if true; then
  maybe() { echo; }
fi
greet
""",
    """
1-1 module
2-7 function greet
8-11 function leave
12-12 module
13-13 function maybe
14-15 module
""",
)
