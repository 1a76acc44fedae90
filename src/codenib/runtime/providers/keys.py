"""Where the keys of providers are: in the environment alone; and how they stay out of what is kept."""

from __future__ import annotations

import os
from collections.abc import Sequence

from codenib.core.errors import InputError

KEY_VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
}
_SHORTEST = 8  # a placeholder such as "none" is no key, and would blot out words
_HIDDEN = "[key removed]"
_named: set[str] = set()


def find_key(provider: str, variable: str | None, *, needed: bool) -> str:
    """The key of a provider, from the `variable` that the user names or the provider's own.

    Servers on one's own machine take any key, so there one that is not `needed` may be missing.
    """
    if variable:
        _named.add(variable)
    names = (variable,) if variable else KEY_VARIABLES[provider]
    for name in names:
        if os.environ.get(name):
            return os.environ[name]
    if needed:
        raise InputError(f"no key for {provider}: {names[0]} is not set", hint=f"export {names[0]}=…")
    return "none"


def keys_in_environment() -> list[str]:
    """The values of all variables that hold keys of providers."""
    names = {*_named, *(name for names in KEY_VARIABLES.values() for name in names)}
    return [value for name in sorted(names) if len(value := os.environ.get(name, "")) >= _SHORTEST]


def hide(text: str, keys: Sequence[str] | None = None) -> str:
    """The text without any key."""
    for key in keys_in_environment() if keys is None else keys:
        text = text.replace(key, _HIDDEN)
    return text
