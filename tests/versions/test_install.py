"""The wheel and the source distribution: built, installed into an empty environment, and used there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.full,  # it installs environments
]

USE = """
import minigrad, minigrad_viz, pathlib
x = minigrad.tensor(5.0, requires_grad=True)
print(minigrad_viz.draw(minigrad.log(x)).svg()[:4])
for package in (minigrad, minigrad_viz):
    print((pathlib.Path(package.__file__).parent / "py.typed").exists())
"""


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints; it must end well."""
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_QUIET": "2"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_what_is_built_can_be_installed_and_used(tmp_path, kind):
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, "-m", "pip", "install", "build", cwd=tmp_path)
    run(python, "-m", "build", f"--{kind}", "--outdir", tmp_path / "dist", ROOT, cwd=tmp_path)
    (built,) = (tmp_path / "dist").iterdir()
    run(python, "-m", "pip", "install", built, cwd=tmp_path)
    run(python, "-m", "pip", "check", cwd=tmp_path)
    assert run(python, "-c", USE, cwd=tmp_path).split() == ["<svg", "True", "True"]
