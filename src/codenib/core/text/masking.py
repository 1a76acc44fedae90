"""Text in, the same text out with private keys and tokens of known formats masked, character for character.

A mask is as long as what it covers, so that lines and columns of the text stay true. Whole files are masked
before an excerpt is cut from them: lines from the middle of a key do not tell that they are of one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

_MASK = "[masked]"
#: Between texts that are masked together: no pattern goes over so many breaks.
_APART = "\n" * 9

#: What begins a token, found by a plain search, and the pattern of what follows it: `(?P<s>…)` is secret.
_FORMATS: dict[tuple[str, ...], str] = {
    ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"): r"(?P<s>[A-Za-z0-9]{36,})",
    ("github_pat_",): r"(?P<s>\w{40,})",
    ("glpat-", "glrt-", "gldt-", "glptt-", "glcbt-"): r"(?P<s>[\w-]{20,})",
    ("AKIA", "ASIA"): r"(?P<s>[0-9A-Z]{16})\b",
    ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "aws_secret_key", "AWS_SECRET_KEY", "secretAccessKey",
     "SecretAccessKey"): r"\W{1,8}(?P<s>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"): r"(?P<s>[\w-]{20,})",
    ("xapp-",): r"(?P<s>\d-[\w-]{20,})",
    ("hooks.slack.com/services/T",): r"\w{1,40}/B\w{1,40}/(?P<s>\w{20,})",
    ("sk-ant-",): r"(?P<s>[\w-]{30,})",
    ("sk-",): r"(?:proj-)?(?P<s>[A-Za-z0-9_-]{40,})",
    ("AIza",): r"(?P<s>[\w-]{35})\b",
    ("GOCSPX-",): r"(?P<s>[\w-]{28})",
    ("ya29.",): r"(?P<s>[\w-]{40,})",
    ("npm_",): r"(?P<s>[A-Za-z0-9]{36})\b",
    ("pypi-",): r"(?P<s>[\w-]{60,})",
    ("hf_",): r"(?P<s>[A-Za-z]{34})\b",
    ("sk_live_", "rk_live_", "sk_test_", "rk_test_"): r"(?P<s>[A-Za-z0-9]{20,})",
    ("SG.",): r"(?P<s>[\w-]{20,64}\.[\w-]{40,})",
    ("doo_v1_", "dop_v1_", "dor_v1_"): r"(?P<s>[0-9a-f]{64})",
    ("eyJ",): r"[\w-]{10,4000}\.eyJ[\w-]{10,4000}\.(?P<s>[\w-]{20,})",  # a JSON web token
    ("AccountKey=", "SharedAccessKey="): r"(?P<s>[A-Za-z0-9+/]{40,}={0,2})",
    ("hvs.", "hvb."): r"(?P<s>[\w-]{24,})",
    ("dckr_pat_",): r"(?P<s>[\w-]{20,})",
    ("AGE-SECRET-KEY-1",): r"(?P<s>[0-9A-Z]{50,})",
    ("shpat_", "shpca_", "shppa_", "shpss_"): r"(?P<s>[0-9a-fA-F]{32})\b",
    ("lin_api_",): r"(?P<s>[A-Za-z0-9]{32,})",
    ("gsk_",): r"(?P<s>[A-Za-z0-9]{40,})",
    ("xai-", "pplx-"): r"(?P<s>[A-Za-z0-9]{40,})",
    ("nvapi-",): r"(?P<s>[\w-]{40,})",
    ("r8_",): r"(?P<s>[A-Za-z0-9]{37})\b",
    ("sntrys_", "sntryu_"): r"(?P<s>[\w+/=-]{40,})",
    ("figd_",): r"(?P<s>[\w-]{36,})",
    ("PMAK-",): r"(?P<s>[0-9a-f]{24}-[0-9a-f]{34})",
    ("ATATT3xFf", "ATCTT3xFf"): r"(?P<s>[\w=-]{40,})",
    ("sq0atp-", "sq0csp-"): r"(?P<s>[\w-]{22,})",
    ("NRAK-",): r"(?P<s>[0-9A-Z]{27})\b",
    ("glsa_",): r"(?P<s>[A-Za-z0-9]{32}_[0-9a-fA-F]{8})",
    ("dp.pt.", "dp.st.", "dp.sa."): r"(?P<s>[\w.-]{40,})",
    ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"): r"(?P<s>[\w.-]{32,})",
    ("sbp_",): r"(?P<s>[0-9a-f]{40})\b",
    ("dapi",): r"(?P<s>[0-9a-f]{32})\b",
    (":AA",): r"(?<=\d:AA)(?P<s>[\w-]{33})\b",  # a bot of Telegram
}  # fmt: skip
_TOKENS = tuple((begin, re.compile(rest)) for begins, rest in _FORMATS.items() for begin in begins)

_URL = re.compile(r"://[^\s/:@\"'\\]{1,64}:(?P<s>[^\s/@\"'\\]{3,128})@")
_HEADER = re.compile(
    r"authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?(?:bearer|basic|token)\s{1,4}(?P<s>[\w.~+/=-]{8,})",
    re.I,
)

_BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# A line break as it is, or as a string has it.
_BREAK = r"(?:\\r)?\\n|\r?\n"
_LINE = re.compile(rf"(.*?)({_BREAK}|\Z)")
# What stands around the base64 of a key: white space, quotes, signs of strings and comments, a line's number.
_AROUND = " \t\r\"'`+,;|>#*\\()[]"
_NUMBER = re.compile(r"\d{1,7}[ \t:|-]")
_RUN = re.compile(r"[A-Za-z0-9+/=*\[\]]{6,}")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]+")
_KEY_HEADER = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID):.*|=\S{4}|")
#: What a line must be where no end of the key is in sight; `continue` is base64 too.
_SURE = re.compile(r".{20,}|(?=.*\d)(?=.*[a-z])(?=.*[A-Z]).{12,}")
_MOST_LINES = 400
_PUTTY = re.compile(r"(Private-Lines: \d{1,4}\r?\n)((?:[A-Za-z0-9+/=]+\r?\n)+)")


def mask_secrets(text: str) -> str:
    """Private keys and tokens of known formats, wherever they stand, without what is secret in them.

    >>> mask_secrets("token = ghp_" + "a1" * 18)
    'token = ghp_[masked]****************************'
    """
    return mask_tokens(mask_private_keys(text))


def mask_recorded(text: str) -> str:
    """The same, and what only its place tells: passwords in URLs and the values of `Authorization` headers.

    For what is written down of agents' runs. Source is shown as it is there: such URLs are often examples.

    >>> mask_recorded("postgres://app:correct-horse@db/shop")
    'postgres://app:[masked]*****@db/shop'
    """
    for pattern in (_URL, _HEADER):
        text = pattern.sub(_masked_group, text)
    return mask_secrets(text)


def mask_texts(value: Any, mask: Callable[[str], str]) -> Any:
    """A JSON value with every text in it masked.

    Not its encoding: there a line break is a backslash and a letter, so that a token that begins a line
    seems to go on a word.

    >>> mask_texts({"a": ["x\\nghp_" + "a1" * 18]}, mask_secrets)["a"][0][:14]
    'x\\nghp_[masked]'
    """
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {mask_texts(name, mask): mask_texts(each, mask) for name, each in value.items()}
    return [mask_texts(each, mask) for each in value] if isinstance(value, list | tuple) else value


def _masked_group(match: re.Match[str]) -> str:
    start, stop = (at - match.start() for at in match.span("s"))
    return f"{match[0][:start]}{_mask(match['s'])}{match[0][stop:]}"


def mask_private_keys(text: str) -> str:
    """The whole text with its private keys masked; a part of it may not tell that it is of one."""
    if "PRIVATE KEY" in text:
        text = _mask_keys(text)
    if "Private-Lines:" in text:
        text = _PUTTY.sub(lambda match: match[1] + _masked_runs(match[2]), text)
    return text


def mask_tokens(text: str) -> str:
    """Tokens of known formats masked: each is on one line, what tells it at most on the line before.

    Eighty plain searches, a fraction of a millisecond for a file: who shows a few lines masks these alone.
    """
    for begin, rest in _TOKENS:
        if begin in text:
            text = _mask_tokens(text, begin, rest)
    return text


def mask_tokens_of(texts: Sequence[str]) -> list[str]:
    """Several texts as `mask_tokens` gives each alone: thousands of lines are searched eighty times in all.

    >>> mask_tokens_of(["npm_" + "a" * 36, "npm_"])
    ['npm_[masked]****************************', 'npm_']
    """
    masked, at = mask_tokens(_APART.join(texts)), 0
    parts = []
    for text in texts:
        parts.append(masked[at : at + len(text)])
        at += len(text) + len(_APART)
    return parts


def _mask_tokens(text: str, begin: str, rest: re.Pattern[str]) -> str:
    parts, done, at = [], 0, text.find(begin)
    while at >= 0:
        after = at + len(begin)
        before = text[max(at - 2, 0) : at]  # the letter of a `\\n` in a string is not of a word
        inside = before[-1:].isalnum() and begin[0].isalnum() and not before.startswith("\\")
        if match := None if inside else rest.match(text, after):
            start, stop = match.span("s")
            parts += [text[done:start], _mask(match["s"])]
            done = after = stop
        at = text.find(begin, after)
    return "".join([*parts, text[done:]])


def _mask(secret: str) -> str:
    return f"{_MASK:*<{len(secret)}}"[: len(secret)]


def _masked_runs(body: str) -> str:
    """The body of a key with every run of its letters masked; breaks, also `\\n` in a string, stay."""
    return "".join(
        part if number % 2 else _RUN.sub(lambda match: _mask(match[0]), part)
        for number, part in enumerate(re.split(rf"({_BREAK})", body))
    )


def _mask_keys(text: str) -> str:
    """The text with the lines of every private key masked, also of one whose beginning or end is cut off."""
    spans: list[tuple[int, int]] = []
    for begin in _BEGIN.finditer(text):
        spans.append((begin.end(), _end_of_key(text, begin.end())))
    stops, last = {stop for _, stop in spans}, 0
    for end in _END.finditer(text):
        if end.start() not in stops:
            spans.append((_start_of_key(text, last, end.start()), end.start()))
        last = end.end()
    parts, done = [], 0
    for start, stop in sorted(spans):
        if start >= done:
            parts += [text[done:start], _masked_runs(text[start:stop])]
            done = stop
    return "".join([*parts, text[done:]])


def _end_of_key(text: str, start: int) -> int:
    """Where the lines after a beginning stop to be those of a key."""
    at, sure = start, start
    for _ in range(_MOST_LINES):
        match = _LINE.match(text, at)
        assert match is not None  # it matches anything
        if end := _END.search(match[1]):
            return match.start() + end.start()
        line = _bare(match[1])
        if not (_KEY_LINE.fullmatch(line) or _KEY_HEADER.fullmatch(line)):
            return sure
        at = match.end()
        if _SURE.fullmatch(line):
            sure = at
        if not match[2]:
            return sure
    return at


def _start_of_key(text: str, least: int, end: int) -> int:
    """Where the lines before an end begin to be those of a key."""
    lines = re.split(rf"({_BREAK})", text[max(least, end - 100 * _MOST_LINES) : end])
    start = end - len(lines[-1])
    for number in range(len(lines) - 3, -1, -2):
        if not _KEY_LINE.fullmatch(_bare(lines[number])):
            break
        start -= len(lines[number]) + len(lines[number + 1])
    return start


def _bare(line: str) -> str:
    """A line of a key without what stands around it; one that is masked already as the letters of a key."""
    if _MASK in line:
        return "A" * 20
    line = line.strip(_AROUND)
    if number := _NUMBER.match(line):
        line = line[number.end() :].strip(_AROUND)
    return line
