"""Secrets files are in no snapshot, unless the owner names them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.core.errors import InputError
from codenib.serving.workspace import Workspace
from codenib.snapshot.secrets import SECRET, is_secret


@pytest.mark.parametrize(
    "path",
    [
        ".env", "a/.env.local", "prod.env", "ssh/id_ed25519", "x/server.PEM", "tls.key", "a/.netrc", ".envrc",
        "home/.aws/credentials", ".kube/config", ".docker/config.json", ".ssh/work", "dot/.ssh/config",
        "id_rsa.bak", "id_ed25519~", "id_rsa_old", ".vault-token", "service-account-prod.json", ".pgpass",
        "client_secret_123.apps.json", "terraform.tfstate", "terraform.tfstate.backup", "db.kdbx", ".npmrc",
        ".cargo/credentials.toml", "ci/kubeconfig", "x/client-secrets.json", ".config/gh/hosts.yml",
    ],
)  # fmt: skip
def test_secrets_are_told_by_their_name(path: str) -> None:
    assert is_secret(path)


@pytest.mark.parametrize(
    "path", [".env.example", "env.py", "environment.md", "keys.py", "id_rsa.py", "a.env/b.py", "secrets.py",
             "id_rsa.pub", ".ssh/id_rsa.pub", "id_rsa_parser.py", "aws/credentials.py", "docker/config.json",
             "service_account.py", "kube/config", "tfstate.go", "client_secret.md"]
)  # fmt: skip
def test_code_and_templates_are_no_secrets(path: str) -> None:
    assert not is_secret(path)


def test_secrets_are_neither_indexed_nor_served_nor_kept(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({"a.py": "def shown():\n    pass\n", ".env": "PASSWORD_HELD=1\n"})
    repo.write("new/server.pem", "PASSWORD_HELD=2\n")
    with Workspace(repo.path) as workspace:
        assert not workspace.search("PASSWORD_HELD").items
        assert not workspace.regex("PASSWORD_HELD").items
        assert workspace.status().skipped[SECRET] == 2
        for path in (".env", "new/server.pem"):
            with pytest.raises(InputError, match="secrets file"):
                workspace.read(path)
        with pytest.raises(InputError, match="secrets file"):
            workspace.read(".env", at="HEAD")
        store = Path(workspace.status().store).parent.parent
    kept = [file for file in store.rglob("*") if file.is_file() and b"PASSWORD_HELD" in file.read_bytes()]
    assert not kept


def test_an_edited_secret_does_not_make_the_worktree_dirty(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({"a.py": "x = 1\n", ".env": "A=1\n"})
    repo.write(".env", "A=2\n")
    with Workspace(repo.path) as workspace:
        assert workspace.search("x").snapshot.dirty is False


def test_the_owner_names_one_and_it_is_served(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    files = {"tests/keys/a.pem": "PUBLIC\n", "tests/keys/b.pem": "HIDDEN\n", "x.py": "x = 1\n"}
    repo.commit({**files, ".codenibignore": "# named\n!tests/keys/a.pem\n"})
    with Workspace(repo.path) as workspace:
        assert workspace.read("tests/keys/a.pem").text == "PUBLIC"
        with pytest.raises(InputError, match="secrets file"):
            workspace.read("tests/keys/b.pem")
        assert workspace.read("tests/keys/a.pem", at="HEAD").text == "PUBLIC"
