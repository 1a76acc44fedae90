"""The wheel and the sdist: what a stranger installs, without the checkout."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tarfile
import tomllib
import venv
from pathlib import Path

import pytest
from tests.example_project import make_project

from codenib.core.errors import DISTRIBUTION
from codenib.serving.doctor import examine

ROOT = Path(__file__).resolve().parent.parent


def _run(*command: str | Path, cwd: Path, home: Path) -> str:
    chosen = {"HOME": str(home), "CODENIB_HOME": str(home / "state"), "CODENIB_BACKGROUND": "off"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=environment | chosen, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _built(kind: str, source: Path, out: Path) -> Path:
    _run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", out, cwd=source, home=out)
    (built,) = out.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


@pytest.mark.slow
def test_the_wheel_runs_the_line_of_the_readme_without_the_checkout(tmp_path: Path) -> None:
    wheel = _built("wheel", ROOT, tmp_path / "wheel")
    bare = tmp_path / "bare"
    venv.create(bare)
    python = bare / "bin" / "python"
    # Dependencies come from here; the .pth files in folders that are added like this are not read.
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    (site,) = bare.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text("\n".join(libraries))
    install = (
        "install",
        "--quiet",
        "--ignore-installed",
        "--no-deps",
        "--no-index",
        "--find-links",
        wheel.parent,
        DISTRIBUTION,
    )
    _run(sys.executable, "-m", "pip", "--python", python, *install, cwd=tmp_path, home=tmp_path)
    make_project(tmp_path / "project")

    line = re.search(r"^pip install \. && codenib (.+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert line is not None
    words = shlex.split(line[1])
    words[words.index("path/to/repository")] = str(tmp_path / "project")
    answer = _run(bare / "bin" / "codenib", *words, cwd=tmp_path, home=tmp_path)

    assert "src/sessions.py:4  SessionStore.save_session" in answer
    where = "import codenib; print(codenib.__file__)"
    assert _run(python, "-c", where, cwd=tmp_path, home=tmp_path).startswith(str(site))


def test_no_page_and_no_hint_installs_the_other_product() -> None:
    other = re.compile(r"pip install [^`\n]*\bcodenib(?!-views|[\w./-])|\bcodenib\[")
    texts = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py")]

    assert [str(path) for path in texts if other.search(path.read_text().replace("&& codenib", ""))] == []
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"] == DISTRIBUTION


def test_doctor_names_the_other_product_in_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "codenib-0.2.4.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: codenib\nVersion: 0.2.4\n")
    (info / "RECORD").write_text("codenib/__init__.py,,\n")
    before = {check.name: check.state for check in examine()}
    monkeypatch.syspath_prepend(str(tmp_path))
    after = {check.name: check for check in examine()}

    assert before["package"] == "ok"
    assert after["package"].state == "broken"
    assert "codenib 0.2.4" in after["package"].detail


def test_the_sdist_builds_the_same_wheel(tmp_path: Path) -> None:
    sdist = _built("sdist", ROOT, tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("codenib_views-*")

    again = _built("wheel", source, tmp_path / "again")
    here = _built("wheel", ROOT, tmp_path / "here")

    assert again.read_bytes() == here.read_bytes()


def test_everything_in_the_wheel_that_is_not_source_has_a_licence_in_the_docs(tmp_path: Path) -> None:
    source = {
        ".py",
        ".js",
        ".ts",
        ".go",
        ".java",
        ".rs",
        ".scm",
        ".json",
        ".toml",
        ".mod",
        ".sum",
        ".md",
        ".typed",
        ".lock",
    }
    listed = (ROOT / "docs" / "licences.md").read_text()
    tracked = _run("git", "ls-files", "src/codenib", cwd=ROOT, home=tmp_path).splitlines()
    ours = {path for path in tracked if Path(path).name == "NOTICE" or "/tools/pins/" in path}
    data = [path for path in tracked if Path(path).suffix not in source and path not in ours]

    assert [path for path in data if path.removeprefix("src/codenib/") not in listed] == []
