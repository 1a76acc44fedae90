"""Repositories whose commits name symptoms that no code mentions: only the past tells where they are."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

MODULES = 24
SYMPTOMS = [f"{'bcdfghjklmnprstvwxyz'[n % 20]}o{'abcdeghiklmnoprstuvw'[n // 2]}uzle" for n in range(MODULES)]


NAMES = ("start", "run", "stop")


def module(number: int, edition: int, changed: str = "run") -> str:
    """A module like all others, but for its number and the edition of one function."""
    return "".join(
        f"def {name}_{number}(value):\n"
        f"    handled = value + {edition if name == changed else 0}\n"
        "    return handled\n\n\n"
        for name in NAMES
    )


def new_symptom(number: int) -> str:
    return SYMPTOMS[number][::-1]


def committed(step: int) -> int:
    """When a fix was committed, in seconds since 1970."""
    return 1_600_000_000 + 86_400 * step


def message(symptom: str) -> str:
    return f"Fix {symptom} while a value is handled\n\nThe value was handled twice when {symptom} came first."


#: Words that no code of these repositories has.
FOREIGN = "исправлена ошибка при обработке входного значения"


def make_fix_repository(
    path: Path,
    commits: int = 110,
    *,
    shuffled: bool = False,
    new_from: int | None = None,
    foreign: range = range(0),
    often: int = 0,
) -> None:
    """A repository of `commits` fixes; `shuffled`: nothing says which module and function is next.

    From the fix `new_from` on the symptoms are others, `new_symptom`, which no earlier fix names, and nothing
    says which function of the module it is. Of the fixes `foreign` the message has no word of the code.
    The last `often` modules are changed nine times of ten.
    """
    path.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)
    chance = random.Random(1)
    stream = [_commit(0, "Begin", {f"part_{n}.py": module(n, 0) for n in range(MODULES)})]
    for step in range(1, commits + 1):
        number = chance.randrange(MODULES)
        if often and chance.random() < 0.9:
            number = MODULES - 1 - chance.randrange(often)
        symptom = SYMPTOMS[chance.randrange(MODULES) if shuffled else number]
        if new_from is not None and step >= new_from:
            symptom = new_symptom(number)
        changed = chance.choice(NAMES) if shuffled or new_from is not None else "run"
        text = FOREIGN if step in foreign else message(symptom)
        stream.append(_commit(step, text, {f"part_{number}.py": module(number, step, changed)}))
    data = "".join(stream).encode()
    subprocess.run(["git", "-C", str(path), "fast-import", "--quiet"], input=data, check=True)
    subprocess.run(["git", "-C", str(path), "reset", "-q", "--hard", "main"], check=True)


def _commit(step: int, text: str, files: dict[str, str]) -> str:
    who = f"A <a@example.com> {committed(step)} +0000"
    head = f"commit refs/heads/main\ncommitter {who}\ndata {len(text.encode())}\n{text}\n"
    body = "".join(
        f"M 100644 inline {name}\ndata {len(content)}\n{content}\n" for name, content in files.items()
    )
    return f"{head}{body}\n"
