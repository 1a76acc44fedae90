"""Process groups in; they are ended when this interpreter is gone, however it went, with their folders.

A process that is killed (`kill -9`, out of memory) cannot end its engines, and an engine at work does not
look at its input for minutes. So a small shell beside us holds the other end of a pipe: what is still on its
list when the pipe closes is killed. (The kernel's own signal at a parent's death comes at the death of the
*thread* that started the child.) A limit on an engine's memory is set from outside too.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

# "+ GROUP" enters a group, "- GROUP" takes it off the list; the end of the input kills the rest.
_SCRIPT = """
list=""
while read -r sign group; do
  if [ "$sign" = + ]; then list="$list $group"; continue; fi
  rest=""
  for each in $list; do [ "$each" = "$group" ] || rest="$rest $each"; done
  list="$rest"
done
for each in $list; do kill -9 "-$each"; done
rm -rf -- "$1"
"""
_MEMORY_SHARE = 0.75  # of the machine's memory that one engine's data may take


class Guardian:
    """The shell beside this process; started with the first group."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shell: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._folder = ""

    def private_folder(self) -> Path:
        """A new folder for one engine, which is gone at the latest when this process is."""
        with self._lock:
            self._running()
            return Path(tempfile.mkdtemp(dir=self._folder or None)).resolve()

    def watch(self, group: int) -> None:
        """End this group when this process is gone; limit its memory."""
        self._tell(f"+ {group}\n")
        _limit_memory(group)

    def release(self, group: int) -> None:
        """The group has ended."""
        if self._shell is not None and self._owner == os.getpid():
            self._tell(f"- {group}\n")

    def _tell(self, line: str) -> None:
        with self._lock:
            shell = self._running()
            if shell is not None and shell.stdin is not None:
                with suppress(OSError):
                    shell.stdin.write(line.encode())
                    shell.stdin.flush()

    def _running(self) -> subprocess.Popen[bytes] | None:
        if self._shell is None or self._owner != os.getpid():
            self._owner = os.getpid()
            self._folder = tempfile.mkdtemp(prefix="codenib-engines-")
            with suppress(OSError):  # no shell: children still end with every ordinary end of ours
                self._shell = subprocess.Popen(
                    ["/bin/sh", "-c", _SCRIPT, "sh", self._folder],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={},
                    start_new_session=True,
                )
        return self._shell


def _limit_memory(pid: int) -> None:
    """Refuse an engine's data beyond a share of the machine's memory, where the system can (Linux)."""
    try:
        import resource

        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        limit = int(total * _MEMORY_SHARE)
        resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))
    except (ImportError, AttributeError, OSError, ValueError):
        return


#: The one of this process.
GUARDIAN = Guardian()
