"""The player's JavaScript, checked by `tsc --checkJs`: its types stand in JSDoc comments."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from minigrad_viz.player.static_html import EXTRAS, MODULES

PLAYER = Path(__file__).resolve().parent.parent.parent / "minigrad_viz" / "player"
TSC = os.environ.get("TSC") or shutil.which("tsc")
needs_tsc = pytest.mark.skipif(not TSC, reason="tsc is not installed (npm install typescript)")


def problems(folder: Path) -> list[str]:
    ended = subprocess.run(
        [TSC, "-p", str(folder / "jsconfig.json")], capture_output=True, text=True, check=False
    )
    return [line for line in ended.stdout.splitlines() if "error TS" in line]


@pytest.mark.full
@needs_tsc
def test_types_fit():
    assert problems(PLAYER) == []


@pytest.mark.full
@needs_tsc
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("stepper.js", "this.panes.track.lay(", "this.panes.trac.lay("),
        ("stepper_quiz.js", "this.player.panes.view.focus(", "this.player.view.focus("),
    ],
)
def test_a_wrong_name_is_found(tmp_path, name, old, new):
    for path in (*PLAYER.glob("*.js"), PLAYER / "jsconfig.json"):
        shutil.copy(path, tmp_path)
    written = (tmp_path / name).read_text(encoding="utf-8")
    assert old in written
    (tmp_path / name).write_text(written.replace(old, new), encoding="utf-8")
    assert any(name in line for line in problems(tmp_path))


@pytest.mark.quick
def test_every_file_of_the_player_is_checked():
    settings = json.loads((PLAYER / "jsconfig.json").read_text(encoding="utf-8"))
    assert settings["include"] == ["*.js"] and settings["compilerOptions"]["checkJs"]
    joined = {*MODULES, *(name for names in EXTRAS.values() for name in names)}
    assert {path.name for path in PLAYER.glob("*.js")} - joined == {"stepper_types.js"}
    assert not any("@ts-" in path.read_text(encoding="utf-8") for path in PLAYER.glob("*.js"))
