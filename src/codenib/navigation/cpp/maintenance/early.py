"""An edit that reaches many files and the state before it in; the facts of the edited files alone out.

A header's part of the index is made by the first file that includes it, so that one compilation tells it for
every file that was edited. The others keep their part of the index, and their facts, until they are followed.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codenib.navigation.cpp.clangd.answers import FileAnswers
from codenib.navigation.cpp.clangd.index import BackgroundIndex
from codenib.navigation.cpp.clangd.normalize import AnswerNormalizer
from codenib.navigation.cpp.clangd.shards import read_head, read_shard
from codenib.navigation.cpp.clangd.symbols import SymbolTable
from codenib.navigation.cpp.clangd.workers import ClangdWorkers
from codenib.navigation.cpp.compile_commands import CompileCommand
from codenib.navigation.cpp.facts import FactAssembly, FileSummary, summary_of
from codenib.navigation.cpp.includes import Includes

_FOLDER = "early"


@dataclass(frozen=True, slots=True)
class EditedAnswers:
    """Answers of the edited files, and the assembly that makes lines of them."""

    answers: Mapping[str, FileAnswers]
    assembly: FactAssembly


@dataclass(frozen=True, slots=True)
class EditedFiles:
    """Asks about the files of one edit; `files` are all, `changed` those that differ. None came or went."""

    root: Path
    files: Sequence[str]
    changed: Sequence[str]
    commands: Sequence[CompileCommand]

    def ask(
        self,
        workers: ClangdWorkers,
        index: BackgroundIndex,
        includes: Includes,
        summaries: Mapping[str, FileSummary],
    ) -> EditedAnswers | None:
        """The answers after the edit; None where the index cannot be told by single compilations."""
        edited = {str(self.root / path) for path in self.changed}
        before = {origin.shard.path: origin for origin in index.origins.values()}
        if not edited <= before.keys():
            return None
        makers = {before[path].maker for path in edited}
        beside = workers.beside(_FOLDER)
        try:
            if not self._index(beside, makers, edited):
                return None
            shards = {name: origin.shard for name, origin in index.origins.items()}
            for name, shard in shards.items():
                if shard.path in edited:
                    shards[name] = read_shard(beside.shards / name)
            table = SymbolTable(self.root, self.files)
            table.add_shards((shard for _, shard in sorted(shards.items())), index.compiled)
            contexts = None
            if not edited <= {command.file for command in self.commands}:
                graph = {shard.path: shard.includes for shard in shards.values()}
                contexts = beside.read_in_context(self.commands, graph)
            normalizer = AnswerNormalizer(self.root, table, includes, contexts)
            found = {
                each.path: normalizer.normalize(each)
                for each in beside.ask(self.changed, self.commands, table)
            }
            workers.requests = beside.requests
        finally:
            shutil.rmtree(beside.shards.parents[2], ignore_errors=True)
        others = {path: _apart_from(edited, summaries[path]) for path in self.files if path not in found}
        now = {**others, **{path: summary_of(each) for path, each in found.items()}}
        return EditedAnswers(found, FactAssembly(table, [now[path] for path in self.files], includes))

    def _index(self, beside: ClangdWorkers, makers: Collection[str], edited: Collection[str]) -> bool:
        """Put the edited files' new shards; whether each has one."""
        commands = [command for command in self.commands if command.file in makers]
        put = set()
        for shards in beside.index_alone(commands).values():
            for name, place in shards.items():
                path = read_head(place)[0]
                if path in edited and path not in put:
                    put.add(path)
                    (beside.shards / name).unlink(missing_ok=True)
                    shutil.copyfile(place, beside.shards / name)
        beside.forget_alone()
        return put == set(edited)


def _apart_from(edited: Collection[str], summary: FileSummary) -> FileSummary:
    """What a file's old answers say of others than the edited ones, whose places are not what they were."""
    return replace(
        summary,
        macros=tuple(each for each in summary.macros if each[2].path not in edited),
        places=frozenset(pair for pair in summary.places if pair[0].path not in edited),
        named=tuple(each for each in summary.named if each[2] is None or each[2].path not in edited),
    )
