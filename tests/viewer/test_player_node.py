"""The player's JavaScript under node: tests of `player_tests.js` that need no page, and the joined script."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from minigrad_viz.player.static_html import MODULES, module_expression, source

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

BROWSER = Path(__file__).parents[1] / "browser"
TESTS = (BROWSER / "player_tests.js").read_text(encoding="utf-8")
PLAIN = re.findall(r'^plain\("([^"]*)"', TESTS, re.M)


def run(program: str, folder: Path) -> str:
    """What a module prints that stands in `folder`; it must end well and stay silent on stderr."""
    command = [str(NODE), "--input-type=module", "-"]
    done = subprocess.run(command, input=program, cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What became of each plain test: "" or its error."""
    folder = tmp_path_factory.mktemp("player")
    for name in ("player_tests.js", "player_page.js", *MODULES, "stepper_states.js"):
        text = source(name) if name.startswith("stepper") else (BROWSER / name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace('from "/', 'from "./'), encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}')
    return json.loads(
        run(
            'const { run } = await import("./player_tests.js");\nconst told = {};\n'
            f"for (const name of {json.dumps(PLAIN)})\n"
            '  told[name] = await run(name).then(() => "", (error) => `${error.stack}`);\n'
            "console.log(JSON.stringify(told));\n",
            folder,
        )
    )


@pytest.mark.parametrize("name", PLAIN)
def test_what_needs_no_page(outcomes, name):
    assert outcomes[name] == ""


def test_there_are_such_tests():
    assert len(PLAIN) == len(set(PLAIN)) > 3


def test_the_joined_script_gives_the_player(tmp_path):
    told = run(f"const script = {module_expression()};\nconsole.log(Object.keys(script));\n", tmp_path)
    assert told == "[ 'render', 'mount' ]\n"
