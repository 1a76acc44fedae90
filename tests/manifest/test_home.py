from __future__ import annotations

from pathlib import Path

import pytest

from codenib.manifest.home import LAYOUT, home


def test_the_environment_chooses_the_home(own_home: Path) -> None:
    assert home() == own_home / LAYOUT


def test_a_tilde_stands_for_the_users_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CODENIB_HOME", "~/state")
    assert home() == tmp_path / "state" / LAYOUT


def test_without_a_choice_state_lives_with_the_users_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CODENIB_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert home().is_relative_to(tmp_path)
    assert home().parent.name == "codenib"
