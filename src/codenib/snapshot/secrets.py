"""Paths in, those of files that hold secrets by their name out: they are in no snapshot unless named.

A line `!PATH` in `.codenibignore` names one. Until then such a file is not even read.
"""

from __future__ import annotations

SECRET = "secrets file"

_NAMES = frozenset(
    (
        ".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", "_netrc", ".pgpass", ".pypirc",
        ".npmrc", ".htpasswd", ".git-credentials", ".dockercfg", "credentials.json", "secrets.json",
        "secrets.yaml", "secrets.yml", "secrets.toml",
    )
)  # fmt: skip
_ENDS = (
    ".env", ".pem", ".key", ".p8", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx", ".gpg", ".tfvars",
    ".tfstate",
)  # fmt: skip
#: Templates, made to be shared.
_SHARED = (".example", ".sample", ".template", ".dist", ".defaults", "example.env", "sample.env")


def is_secret(path: str) -> bool:
    """Whether the last name of a path is one that secrets are kept under.

    >>> is_secret("config/.env.local"), is_secret(".env.example"), is_secret("server.PEM")
    (True, False, True)
    """
    name = path.rpartition("/")[2].lower()
    secret = name in _NAMES or name.endswith(_ENDS) or name.startswith(".env.")
    return secret and not name.endswith(_SHARED)
