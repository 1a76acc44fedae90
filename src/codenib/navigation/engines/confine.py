"""A policy and a command in; this process becomes the command, confined by Landlock and seccomp.

A script of its own, started by `sandbox.py` as `python -I -S confine.py POLICY COMMAND...`: our process has
threads, so that no Python may run between its fork and the engine. It imports nothing of ours. Where it
cannot confine, it does not start the command.

Landlock says which files may be opened; what it leaves out (other sockets than TCP, modes and times of files,
which need no opening) and what an engine never needs is refused by seccomp.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence

#: Before the second, no file may be renamed into another folder, private or not.
LEAST_ABI = 2
_NEWEST_ABI = 7  # that we know the rights of
_REFUSED = 125  # the exit code when the command was not started

_LIBC = ctypes.CDLL(None, use_errno=True)
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ZERO = ctypes.c_ulong(0)
_SET_SECCOMP, _SET_NO_NEW_PRIVILEGES = 22, 38

# Rights of Landlock by bit; those of a file that is no folder are apart.
_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _DEVICE = 1 << 13, 1 << 14, 1 << 15
_CHANGE_FOLDER = (1 << 4) | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 9) | (1 << 10) | (1 << 12)
_OF_A_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE
_TCP = 0b11
_SIGNALS_AND_ABSTRACT_SOCKETS = 0b11


def main(arguments: Sequence[str]) -> None:
    policy, *command = arguments
    rules = json.loads(policy)
    try:
        landlock(rules, min(landlock_abi(), int(rules.get("abi", _NEWEST_ABI))))
        seccomp()
        if outside := rules.get("probe"):
            print(json.dumps(_tried(outside)))
        else:
            os.execv(command[0], command)
    except OSError as error:
        print(f"error not started in a sandbox: {error}", file=sys.stderr)
        sys.exit(_REFUSED)


def landlock_abi() -> int:
    """The version of Landlock that the kernel offers; 0 without."""
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


def landlock(rules: Mapping[str, Sequence[str]], abi: int) -> None:
    """Open from now on only what is below the paths of `read`, `write` and `execute`."""
    if abi < LEAST_ABI:
        raise OSError(errno.ENOSYS, f"Landlock {abi} is too old")
    known = (1 << 13) - 1 | _REFER | (_TRUNCATE if abi >= 3 else 0) | (_DEVICE if abi >= 5 else 0)
    attributes = struct.pack(
        "=QQQ", known, _TCP if abi >= 4 else 0, _SIGNALS_AND_ABSTRACT_SOCKETS if abi >= 6 else 0
    )
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = _checked(_LIBC.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0))
    read = _READ | _LIST
    rights = {
        "read": read,
        "execute": read | _EXECUTE,
        "write": read | _WRITE | _TRUNCATE | _REFER | _CHANGE_FOLDER,
        "devices": read | _WRITE | _TRUNCATE | _DEVICE,
    }
    for kind, allowed in rights.items():
        for path in rules.get(kind, ()):
            _allow(ruleset, path, allowed & known)
    _checked(_LIBC.prctl(_SET_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), _ZERO, _ZERO, _ZERO))
    _checked(_LIBC.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, allowed: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # not there, or not for us: then it is not for the engine either
    if not os.path.isdir(path):  # noqa: PTH112 - this file imports as little as it can
        allowed &= _OF_A_FILE
    _checked(_LIBC.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, place), 0))
    os.close(place)


# System calls by name: numbers on x86_64 and on aarch64, -1 where there is none.
_CALLS = {
    "socket": (41, 198), "socketpair": (53, 199), "clone": (56, 220), "clone3": (435, 435),
    "open": (2, -1), "openat": (257, 56), "openat2": (437, 437), "truncate": (76, 45),
    "ioctl": (16, 29), "prlimit64": (302, 261), "memfd_create": (319, 279),
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "utime": (132, -1), "utimes": (235, -1), "futimesat": (261, -1), "utimensat": (280, 88),
    "chown": (92, -1), "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "move_pages": (279, 239), "migrate_pages": (256, 238),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51), "pivot_root": (155, 41),
    "mount": (165, 40), "umount2": (166, 39), "mount_setattr": (442, 442), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "open_by_handle_at": (304, 265), "quotactl": (179, 60), "acct": (163, 89),
    "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "syslog": (103, 116),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "iopl": (172, -1), "ioperm": (173, -1),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "sethostname": (170, 161), "setdomainname": (171, 162),
}  # fmt: skip
# They fall back to older calls where these are not there. The flags of clone3 and openat2 are out of reach.
_NOT_THERE = frozenset(
    {"clone3", "openat2", "memfd_create", "io_uring_setup", "io_uring_enter", "io_uring_register"}
)
# Programs change modes and times of what they wrote, and stop when they cannot: nothing happens instead.
_IGNORED = frozenset(
    {"chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "futimesat", "utimensat"}
)
_BY_ARGUMENT = frozenset({"socketpair", "clone", "open", "openat", "ioctl", "prlimit64"})

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_X32 = 0x40000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _MASK, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
_NAMESPACES = 0x7E020080  # CLONE_NEWUSER, NEWNET, NEWPID, NEWNS, NEWUTS, NEWIPC, NEWCGROUP, NEWTIME
_TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: typing into the user's terminal
_EMPTIES, _ACCESS_MODE = 0o1000, 0o3

Step = tuple[int, int, int, int]  # code, jump if true, jump if false, value


def seccomp() -> None:
    """Refuse from now on the system calls that no engine needs."""
    steps = b"".join(struct.pack("=HBBI", *step) for step in program(platform.machine()))
    buffer = ctypes.create_string_buffer(steps, len(steps))
    head = struct.pack("@HP", len(steps) // 8, ctypes.addressof(buffer))
    _checked(_LIBC.prctl(_SET_SECCOMP, ctypes.c_ulong(2), head, _ZERO, _ZERO))


def program(machine: str) -> list[Step]:
    """The filter for a kind of processor; OSError for one whose numbers we do not know."""
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"no numbers of system calls are known for {machine}")
    column, audit = _MACHINES[machine]
    steps = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NUMBER)]
    if machine == "x86_64":
        steps += [(_AT_LEAST, 0, 1, _X32), _fail(errno.ENOSYS)]
    for name, numbers in _CALLS.items():
        if numbers[column] < 0:
            continue
        body = list(_body(name))
        steps += [(_EQUAL, 0, len(body), numbers[column]), *body]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def _body(name: str) -> Iterator[Step]:
    """What happens to one call; each way through it ends in a return."""
    if name in _NOT_THERE:
        yield _fail(errno.ENOSYS)
    elif name in _IGNORED:
        yield _fail(0)
    elif name not in _BY_ARGUMENT:
        yield _fail(errno.EPERM)
    elif name == "socketpair":  # how Node talks to its children; it reaches nobody else
        yield from (_argument(0), (_EQUAL, 1, 0, 1), _fail(errno.EPERM), (_RETURN, 0, 0, _ALLOW))
    elif name == "clone":
        yield from (_argument(0), (_ANY_BIT, 0, 1, _NAMESPACES), _fail(errno.EPERM), (_RETURN, 0, 0, _ALLOW))
    elif name == "prlimit64":  # limits of itself alone
        yield from (_argument(0), (_EQUAL, 1, 0, 0), _fail(errno.EPERM), (_RETURN, 0, 0, _ALLOW))
    elif name == "ioctl":
        first, second = _TERMINAL_INPUT
        yield from (_argument(1), (_EQUAL, 1, 0, first), (_EQUAL, 0, 1, second), _fail(errno.EPERM))
        yield (_RETURN, 0, 0, _ALLOW)
    else:  # open, openat: emptied without being opened for writing, which an old Landlock lets pass
        flags = _argument(1 if name == "open" else 2)
        yield from (flags, (_ANY_BIT, 0, 4, _EMPTIES), (_MASK, 0, 0, _ACCESS_MODE))
        yield from ((_EQUAL, 2, 0, os.O_WRONLY), (_EQUAL, 1, 0, os.O_RDWR), _fail(errno.EACCES))
        yield (_RETURN, 0, 0, _ALLOW)


def _argument(number: int) -> Step:
    """Load the lower half of an argument: both kinds of processor are little-endian."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * number)


def _fail(code: int) -> Step:
    return (_RETURN, 0, 0, _FAIL | code)


def _tried(outside: str) -> dict[str, object]:
    """Whether this process can still read a file outside, or open a socket, now that it should not."""
    leaks = []
    try:
        with open(outside, "rb"):  # noqa: PTH123
            leaks.append("files")
    except OSError:
        pass
    if _LIBC.socket(2, 2, 0) >= 0:  # AF_INET, SOCK_DGRAM
        leaks.append("network")
    return {"abi": landlock_abi(), "leaks": leaks}


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main(sys.argv[1:])
