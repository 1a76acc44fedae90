"""Folders in, skills out: what each needs of a manifest, what its tools are, and what runs.

A skill is a folder: `skill.json` (id, description, requires, uses, tools), `prompt.md` (what the system
prompt says of it; may be empty) and `run.py` with a function for each tool, named as the tool.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from codenib.core.errors import UNDECODABLE, InputError
from codenib.core.views import ViewKind
from codenib.runtime.context.messages import ToolSpec
from codenib.runtime.tools.registry import AgentTool, ToolFunction
from codenib.runtime.views import Navigation

_BUILT_IN = Path(__file__).parent
#: Given to a session when nothing else is asked for, as far as the manifest can serve them.
DEFAULT_SKILLS = ("search", "navigate")


class SkillSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The metadata of a skill: readable without running anything of it."""

    id: str
    description: str
    tools: tuple[ToolSpec, ...]
    requires: tuple[ViewKind, ...] = ()
    uses: tuple[ViewKind, ...] = ()  # better with these, works without
    live: bool = False  # language servers may answer in the place of the graph

    def needs(self, navigation: Navigation) -> tuple[ViewKind, ...]:
        """The views without which it cannot work."""
        instead = self.live and navigation == "live"
        return tuple(kind for kind in self.requires if not (instead and kind is ViewKind.GRAPH))


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """A skill that was found but not loaded."""

    spec: SkillSpec
    folder: Path

    @property
    def prompt(self) -> str:
        path = self.folder / "prompt.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def load(self) -> list[AgentTool]:
        """Import the code of the skill."""
        module = self._module()
        return [AgentTool(spec, self._function(module, spec.name)) for spec in self.spec.tools]

    def _module(self) -> ModuleType:
        if self.folder.parent == _BUILT_IN:
            return import_module(f"codenib.runtime.skills.{self.folder.name}.run")
        found = importlib.util.spec_from_file_location(
            f"codenib_skill_{self.folder.name}", self.folder / "run.py"
        )
        if found is None or found.loader is None or not (self.folder / "run.py").exists():
            raise InputError(f"{self.folder} has no run.py", hint="docs/agent.md, “Skills”")
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        return module

    def _function(self, module: ModuleType, name: str) -> ToolFunction:
        function: Any = getattr(module, name, None)
        if not callable(function):
            raise InputError(
                f"{self.folder / 'run.py'} has no function {name}", hint="docs/agent.md, “Skills”"
            )
        run: ToolFunction = function
        return run


@dataclass(frozen=True, slots=True)
class SkillRegistry:
    """The skills of a session, loaded: their tools and what they add to the system prompt."""

    skills: tuple[SkillFolder, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(skill.spec.id for skill in self.skills)

    @property
    def prompts(self) -> list[str]:
        return [skill.prompt for skill in self.skills]

    def tools(self) -> list[AgentTool]:
        return [tool for skill in self.skills for tool in skill.load()]


def built_in_skills() -> list[str]:
    """The ids of the skills that come with the package."""
    return sorted(path.parent.name for path in _BUILT_IN.glob("*/skill.json"))


def load_skill_metadata(skills: Iterable[str | Path]) -> list[SkillFolder]:
    """The metadata of skills by id, or by the folder that holds them. No code is run."""
    return [_find(skill) for skill in skills]


def requirements(skills: Sequence[SkillFolder], navigation: Navigation = "static") -> set[ViewKind]:
    """The views without which some of these skills cannot work."""
    return {kind for skill in skills for kind in skill.spec.needs(navigation)}


def _find(skill: str | Path) -> SkillFolder:
    folder = _BUILT_IN / skill if isinstance(skill, str) and "/" not in skill else Path(skill).absolute()
    file = folder / "skill.json"
    try:
        spec = msgspec.json.decode(file.read_bytes(), type=SkillSpec)
    except OSError as error:
        known = ", ".join(built_in_skills())
        raise InputError(
            f"no skill {str(skill)!r}; there are {known}", hint="--skills NAME or FOLDER/"
        ) from error
    except UNDECODABLE as error:
        raise InputError(f"{file}: {error}", hint="docs/agent.md, “Skills”") from error
    return SkillFolder(spec, folder)
