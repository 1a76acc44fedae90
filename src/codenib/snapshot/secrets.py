"""Paths in, those of files that hold secrets by their name out: they are in no snapshot unless named.

A line `!PATH` in `.codenibignore` names one. Until then such a file is not even read.
"""

from __future__ import annotations

import re

SECRET = "secrets file"

_NAMES = frozenset(
    (
        ".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", "_netrc", ".pgpass", ".pypirc",
        ".npmrc", ".htpasswd", ".git-credentials", ".dockercfg", "credentials.json", "secrets.json",
        "secrets.yaml", "secrets.yml", "secrets.toml", ".envrc", ".vault-token", ".vault_pass", ".boto",
        ".s3cfg", ".my.cnf", ".mylogin.cnf", ".authinfo", "kubeconfig", ".terraformrc", "terraform.rc",
        ".databrickscfg", ".snowsql", ".msmtprc", ".fetchmailrc", "accesstokens.json",
        "application_default_credentials.json", "credentials", "credentials.csv", "accesskeys.csv",
        "rootkey.csv", ".secret", ".secrets", "htpasswd", "kubeconfig.yaml", "kubeconfig.yml",
        "deploy_key", "cookies.sqlite", "key3.db", "key4.db", "logins.json", "token.pickle",
        ".gitcookies", ".claude.json", "msal_token_cache.json",
    )
)  # fmt: skip
#: Files of a folder that programs keep their secrets in.
_PLACES = (
    "/.aws/credentials", "/.aws/config", "/.kube/config", "/.docker/config.json", "/.cargo/credentials",
    "/.cargo/credentials.toml", "/.gem/credentials", "/.config/gh/hosts.yml", "/.m2/settings-security.xml",
    "/.terraform.d/credentials.tfrc.json", "/.config/rclone/rclone.conf", "/.m2/settings.xml", "/.config/hub",
    "/.gradle/gradle.properties", "/.composer/auth.json", "/.ngrok2/ngrok.yml", "/.netlify/config.json",
    "/etc/shadow", "/etc/gshadow",
)  # fmt: skip
#: Folders of which every file is one.
_FOLDERS = ("/.ssh/", "/.gnupg/", "/.password-store/", "/.config/gcloud/", "/.azure/", "/.config/op/")
# Keys with a further ending (`id_rsa.bak`, `id_ed25519~`) or another beginning, keys of accounts and
# applications, what shells remember, and files called after what they hold.
_LIKE = re.compile(
    r"[a-z0-9.-]+_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-]?(?:old|bak|backup|orig|copy|save|key|private|\d+))*~?"
    r"|(?:service[-_]?account|client[-_]?secrets?)[^/]*\.json|[^/]*firebase-adminsdk[^/]*\.json"
    r"|[^/]*\.tfstate\.[^/]+|[^/]*\.tfvars\.json|\.[a-z_]+_history|wg\d+\.conf|secring\.[^/]+"
    r"|(?:[^/]*[-_.])?(?:vault[-_]?pass|private[-_]?key)(?:\.(?:txt|der|asc|bak))?|private[^/]*\.asc|[^/]+\.secret"
)
_ENDS = (
    ".env", ".pem", ".key", ".p8", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx", ".gpg", ".tfvars",
    ".tfstate", ".ovpn", ".pkcs12", ".keychain", ".keychain-db", ".agekey",
)  # fmt: skip
#: Templates, made to be shared.
_SHARED = (".example", ".sample", ".template", ".dist", ".defaults", "example.env", "sample.env")


def is_secret(path: str) -> bool:
    """Whether a path is one that secrets are kept under.

    >>> is_secret("config/.env.local"), is_secret(".env.example"), is_secret("server.PEM")
    (True, False, True)
    """
    lower = f"/{path.lower()}"
    name = lower.rpartition("/")[2]
    secret = name in _NAMES or name.endswith(_ENDS) or name.startswith(".env.") or bool(_LIKE.fullmatch(name))
    secret = secret or lower.endswith(_PLACES)
    hidden = "/." in lower  # as each of the folders begins
    secret = secret or (hidden and any(folder in lower for folder in _FOLDERS) and not name.endswith(".pub"))
    return secret and not name.endswith(_SHARED)
