"""The models' Hub: a model's name in, whether it is cached or can be had out. Needs the extra `models`."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from pathlib import Path

from codenib.core.errors import InputError, ProviderError

HUB_TIMEOUT_S = 5.0


def require_hub(name: str, spec: str) -> None:
    """Raise if the Hub does not answer: the library itself retries for over a minute before it says so.

    `spec` is how the same model is named from a folder.
    """
    from huggingface_hub import constants

    hint = f"hf download {name} --local-dir FOLDER where there is a network, then name it: {spec}"
    if constants.HF_HUB_OFFLINE:
        raise ProviderError(f"no folder and no cached model {name}, and the Hub is switched off", hint=hint)
    request = urllib.request.Request(f"{constants.ENDPOINT}/api/models/{name}", method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=HUB_TIMEOUT_S).close()
    except urllib.error.HTTPError as error:
        error.close()  # it answers; the library says better what is wrong with the name
    except OSError as error:
        raise ProviderError(
            f"no folder and no cached model {name}, and the Hub cannot be reached: {error}", hint=hint
        ) from error


def cached_commit(name: str) -> str:
    """The commit of the newest cached snapshot of a Hub model, empty without one."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "config.json")
    except HFValidationError as error:
        raise InputError(
            f"neither a folder nor a name of the Hub: {name}", hint="name it ORG/MODEL, or name its folder"
        ) from error
    return Path(found).parent.name if isinstance(found, str | os.PathLike) else ""
