"""Values of the structural view: roles and kinds, and the line of facts that a backend gives per file.

A backend drives the language's own engine over a checkout. For every token where a person may ask, its line
says what *definition* answers there (`defs`), of what the token is an occurrence (`keys`), and what
*references* collects there (`asks`; -1 when that is `keys`). The format is described in docs/navigation.md.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag, StrEnum

import msgspec

#: The columns of an occurrence: its place, its roles there, and the numbers of three lists of targets.
OCCURRENCE_PLACE = ("line", "column", "end_line", "end_column")
OCCURRENCE_LISTS = ("defs", "keys", "asks")
OCCURRENCE_COLUMNS = (*OCCURRENCE_PLACE, "roles", *OCCURRENCE_LISTS)
#: The columns of a node: its extent is the whole declaration, its name stands on one line.
NODE_EXTENT = ("line", "column", "end_line", "end_column")
NODE_NAME = ("name_line", "name_column", "name_end_column")
NODE_COLUMNS = ("kind", "parent", *NODE_EXTENT, *NODE_NAME, "flags")
#: A relation is between two targets; its kind is a place in `RELATIONS`.
RELATION_COLUMNS = ("kind", "source", "to")
#: A name in code of which nothing is said: its number among a file's, its place, and how it is used there.
CODE_NAME_COLUMNS = ("name", "line", "column", "use")


class Role(IntFlag):
    """What a token does where it stands."""

    NONE = 0
    DECLARATION = 1
    IMPORT = 2
    CALL = 4
    TYPE = 8
    WRITE = 16
    INHERIT = 32
    INEXACT = 64  # the text is not the symbol's name: an alias, a string, `self`
    KEYWORD = 128  # no name: `this`, `super`, `return`, which lead to a declaration and do not refer to it
    GUESS = 256  # in lines that no engine read: where it leads is a guess, and it refers to nothing


#: What leads to a declaration and is no reference to it.
NO_REFERENCE = Role.KEYWORD | Role.GUESS


class FileScope(StrEnum):
    """Under whose configuration an engine read a file; every place of an answer has its file's scope.

    A question about a language group is answered completely when no file of the group is `UNRESOLVED` or
    `PARTIAL`.
    """

    PROJECT = "project"  # the repository's own configuration includes it
    LOOSE = "loose"  # no configuration includes it: a test, a script, an example
    VARIANT = "variant"  # read under a second configuration, such as other build tags
    INFERRED = "inferred"  # its configuration was inferred, such as the nearest file's flags
    UNRESOLVED = "unresolved"  # the engine gave no facts of it: only names are known
    PARTIAL = "partial"  # imports of it lead to no package: what it uses of them, or through them, is unknown


#: The scope of a place that was matched by its name alone.
BY_NAME = "name"


class NodeFlag(IntFlag):
    NONE = 0
    LOCAL = 1  # not visible outside its function
    ANCHOR = 2  # a place that others refer to and that its own file did not list


class NodeKind(IntEnum):
    """Kinds of nodes, as stored; the names are those of the backends' lines."""

    DIRECTORY = 0
    FILE = 1
    CLASS = 2
    INTERFACE = 3
    ENUM = 4
    STRUCT = 5
    TRAIT = 6
    MODULE = 7
    FUNCTION = 8
    METHOD = 9
    PROPERTY = 10
    FIELD = 11
    VARIABLE = 12
    CONSTANT = 13
    PARAMETER = 14
    TYPE_PARAMETER = 15
    TYPE_ALIAS = 16
    IMPORT = 17
    MACRO = 18
    ENUM_MEMBER = 19
    NAMESPACE = 20
    LABEL = 21

    @property
    def label(self) -> str:
        return self.name.lower()


#: What holds other code: an occurrence inside one is that node's use.
SCOPES = frozenset(
    {
        NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.ENUM, NodeKind.STRUCT, NodeKind.TRAIT, NodeKind.MODULE,
        NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.PROPERTY, NodeKind.NAMESPACE, NodeKind.MACRO,
    }
)  # fmt: skip


class EdgeKind(IntEnum):
    """Kinds of edges; containment is the nodes' parent and not an edge of its own."""

    REFERENCE = 0
    IMPORT = 1
    TYPE_USE = 2
    CALL = 3
    INHERIT = 4

    @property
    def label(self) -> str:
        return self.name.lower().replace("_", "-")


#: What a backend calls a name that it read and could not resolve, followed by the name.
UNRESOLVED_NAME = "unresolved#"

RELATIONS = ("also", "inherit", "implement", "override")


class WireNode(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A declaration in a backend's line, written as an array. Its `parent` is -1 at the top level."""

    name: str
    kind: str
    parent: int
    line: int
    column: int
    end_line: int
    end_column: int
    name_line: int
    name_column: int
    name_end_column: int
    flags: int


class WireFacts(msgspec.Struct, forbid_unknown_fields=True):
    """One line of a backend. Lines and columns are 0-based, ends exclusive, columns in units of `encoding`.

    A target is a declaration `[path, line, column]`, a file `[path]`, or anything outside the repository by a
    stable name. `occurrences` has the columns of one after another.
    """

    path: str
    encoding: str
    nodes: list[WireNode]
    targets: list[str | list[str | int]]
    lists: list[list[int]]
    occurrences: list[int]
    relations: list[tuple[str, int, int]] = []
    scope: FileScope = FileScope.PROJECT
