"""Small sources of languages with clauses, blocks and statements, and their units; as in `sources.py`."""

from __future__ import annotations

CASES: dict[str, tuple[str, str]] = {}

CASES["elixir"] = (
    '''defmodule Shop.Cart do
  @moduledoc """
  Carts.
  """
  use GenServer
  @limit 10

  defstruct [:items, :user]

  @type t :: %__MODULE__{items: list}

  @doc "Adds."
  @spec add(t, term) :: t
  def add(%Cart{} = cart, item) when is_map(item) do
    %{cart | items: [item | cart.items]}
  end

  def size(cart), do: length(cart.items)

  defp check(cart) do
    :ok
  end

  defmacro debug(expr) do
    quote do: unquote(expr)
  end

  defmodule Item do
    def price(item), do: item.price
  end
end

defprotocol Size do
  def size(data)
end

defimpl Size, for: Map do
  def size(map), do: map_size(map)
end
''',
    """
1-31 +module Shop.Cart
1-11 body Shop.Cart
12-17 method Shop.Cart.add
18-19 method Shop.Cart.size
20-23 method Shop.Cart.check
24-27 macro Shop.Cart.debug
28-30 +module Shop.Cart.Item
28-28 body Shop.Cart.Item
29-32 method Shop.Cart.Item.price
33-35 +module Size
33-33 body Size
34-36 method Size.size
37-39 +module Size.Map
37-37 body Size.Map
38-39 method Size.Map.size
""",
)

CASES["haskell"] = (
    """{-# LANGUAGE LambdaCase #-}
-- | Shapes.
module Data.Shape (Shape(..), area) where

import Data.List (sort)

-- | A shape.
data Shape = Circle Double
           | Square Double
  deriving (Show, Eq)

newtype Name = Name { getName :: String }

type Area = Double

class Sized a where
  size :: a -> Int
  size _ = 0

instance Sized Shape where
  size (Circle _) = 1
  size (Square _) = 2

-- | The area.
area :: Shape -> Area
area (Circle r) = pi * r * r
area (Square s) = go s
  where
    go x = x * x

infixl 6 <+>
(<+>) :: Int -> Int -> Int
a <+> b = a + b

limit = 10
""",
    """
1-6 module
7-10 +data Shape
7-11 body Shape
12-12 +newtype Name
12-13 body Name
14-15 module
16-18 +class Sized
16-16 body Sized
17-19 method Sized.size
20-22 +instance Sized.Shape
20-20 body Sized.Shape
21-23 method Sized.Shape.size
24-30 function area
31-31 module
32-34 function <+>
35-35 function limit
""",
)

CASES["zig"] = (
    """const std = @import("std");
pub const limit: usize = 10;

/// A list.
pub const List = struct {
    items: []u8,

    pub fn init() List {
        return .{ .items = &.{} };
    }

    fn grow(self: *List) void {
        _ = self;
    }
};

pub fn Generic(comptime T: type) type {
    return struct {
        value: T,
        const Self = @This();
        pub fn get(self: Self) T {
            return self.value;
        }
    };
}

const Kind = enum { a, b };
const Value = union(enum) {
    int: i32,
    none,
};

test "list grows" {
    var l = List.init();
    l.grow();
}

test List {
    _ = List;
}
""",
    """
1-3 module
4-15 +struct List
4-7 body List
8-11 method List.init
12-16 method List.grow
17-25 +struct Generic
17-20 body Generic
21-26 method Generic.get
27-27 +enum Kind
27-27 body Kind
28-31 +union Value
28-32 body Value
33-37 test list grows
38-40 test List
""",
)

CASES["dart"] = (
    """import 'dart:io';

const limit = 10;

/// A cart.
class Cart extends Base with Mixed implements Sized {
  final int size;
  Cart(this.size);
  Cart.empty() : size = 0;
  factory Cart.from(int n) {
    return Cart(n);
  }

  /// Total.
  @override
  double total(int x) {
    return 1.0;
  }

  int get count => size;
  set count(int v) {
    print(v);
  }
  static void helper() => print('x');
  Cart operator +(Cart other) {
    return this;
  }
}

mixin Mixed on Base {
  void mix() {}
}

enum Color { red, green }

extension Nice on String {
  String twice() {
    return this + this;
  }
}

typedef Callback = void Function(int);

void main(List<String> args) {
  print('x');
}

int add(int a, int b) => a + b;
abstract class Sized { int size(); }
""",
    """
1-4 module
5-28 +class Cart
5-9 body Cart
10-13 constructor Cart.from
14-19 method Cart.total
20-20 getter Cart.count
21-23 setter Cart.count
24-24 method Cart.helper
25-29 operator Cart.+
30-32 +mixin Mixed
30-30 body Mixed
31-33 method Mixed.mix
34-34 +enum Color
34-35 body Color
36-40 +extension Nice
36-36 body Nice
37-41 method Nice.twice
42-43 module
44-47 function main
48-48 function add
49-49 +class Sized
49-49 body Sized
""",
)

CASES["sql"] = (
    """-- All users.
CREATE TABLE users (
  id SERIAL PRIMARY KEY,
  name TEXT NOT NULL
);

CREATE INDEX users_name ON users (name);

CREATE OR REPLACE VIEW active_users AS
SELECT * FROM users WHERE active;

CREATE FUNCTION add_user(name TEXT) RETURNS INT AS $$
BEGIN
  INSERT INTO users (name) VALUES (name);
  RETURN 1;
END;
$$ LANGUAGE plpgsql;

CREATE TYPE mood AS ENUM ('sad', 'ok');

CREATE TRIGGER audit AFTER INSERT ON users
  FOR EACH ROW EXECUTE FUNCTION add_user();

ALTER TABLE public.users ADD COLUMN age INT;

CREATE MATERIALIZED VIEW report AS SELECT 1;
INSERT INTO users VALUES (1, 'a');
CREATE SCHEMA shop;
""",
    """
1-6 table users
7-8 index users_name
9-11 view active_users
12-18 function add_user
19-20 type mood
21-23 trigger audit
24-25 module
26-26 view report
27-28 module
""",
)

CASES["terraform"] = (
    """# The network.
resource "aws_vpc" "main" {
  cidr_block = "10.0.0.0/16"
  tags = {
    Name = "x"
  }
}

variable "region" {
  default = "eu"
}

module "db" {
  source = "./db"
}

output "vpc_id" {
  value = aws_vpc.main.id
}

locals {
  name = "x"
}

data "aws_ami" "ubuntu" {
  most_recent = true
}

terraform {
  required_version = ">= 1"
}
""",
    """
1-8 resource aws_vpc.main
9-12 variable region
13-16 module db
17-20 output vpc_id
21-24 block locals
25-28 data aws_ami.ubuntu
29-31 block terraform
""",
)
