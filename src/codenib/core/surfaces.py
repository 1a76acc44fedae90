"""How the surfaces of files differ after an edit, put into names that other files may write."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class ChangedNames:
    """Names that other files may write and that mean something else after an edit."""

    names: set[str] = field(default_factory=set)
    #: Classes whose values are constructed in another way.
    constructed: set[str] = field(default_factory=set)
    #: Classes whose values are used in another way where no name of theirs is written: by operators, through
    #: their bases, as a protocol asks. They concern every name whose type has the class.
    implicit: set[str] = field(default_factory=set)
    #: Parameters of constructors, for who constructs a class without writing its name.
    keywords: set[str] = field(default_factory=set)
    #: Names that a module imports from elsewhere now, by the module's path.
    imports: dict[str, set[str]] = field(default_factory=dict)
    #: Files of which every dependent is concerned, and why.
    wide: dict[str, str] = field(default_factory=dict)

    @property
    def all(self) -> set[str]:
        """Every name but the parameters."""
        return self.names.union(self.constructed, self.implicit, *self.imports.values())

    def __bool__(self) -> bool:
        return bool(self.all or self.keywords or self.wide)

    def __add__(self, other: ChangedNames) -> ChangedNames:
        imports = {path: set(names) for path, names in self.imports.items()}
        for path, names in other.imports.items():
            imports.setdefault(path, set()).update(names)
        return ChangedNames(
            names=self.names | other.names,
            constructed=self.constructed | other.constructed,
            implicit=self.implicit | other.implicit,
            keywords=self.keywords | other.keywords,
            imports=imports,
            wide={**other.wide, **self.wide},
        )

    def __sub__(self, other: ChangedNames) -> ChangedNames:
        left = {path: names - other.imports.get(path, set()) for path, names in self.imports.items()}
        return ChangedNames(
            names=self.names - other.names,
            constructed=self.constructed - other.constructed,
            implicit=self.implicit - other.implicit,
            keywords=self.keywords - other.keywords,
            imports={path: names for path, names in left.items() if names},
            wide={path: why for path, why in self.wide.items() if path not in other.wide},
        )
