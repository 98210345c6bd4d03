"""Build the course as a static site in which Python runs in the reader's browser (JupyterLite with Pyodide).

    pip install -r site/requirements.txt
    python site/build.py OUTPUT
    python site/serve.py OUTPUT

The site has all notebooks, in the teacher form and in the folder `student` without outputs and solutions. It
has as wheels everything that they need; nothing is fetched from a package index.
Pyodide itself comes from its content network. With `--pyodide FOLDER` a copy of its distribution becomes part
of the site, and no request leaves it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from student import write_all

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
KERNELSPEC = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
# Of those that Pyodide has: what the kernel and the notebooks need, beside what these need.
PACKAGES = ("ipython", "jedi", "matplotlib", "micropip", "numpy", "pillow", "sqlite3", "ssl")
INSTALL = "%pip install -q minigrad-viz"
FIRST = "lab/index.html?path=00_start_here.ipynb"  # where the site opens
# JupyterLite reads the settings of this page too, and needs it to have some.
OPENING = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>minigrad</title>'
    '<script id="jupyter-config-data" type="application/json">{}</script>'
    f'<meta http-equiv="refresh" content="0;url={FIRST}"><a href="{FIRST}">Start here</a></html>'
)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("output", type=Path, help="the folder to write; what is there is replaced")
    parser.add_argument("--pyodide", type=Path, help="a folder with a distribution of Pyodide, to be copied")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        build(given.output.resolve(), Path(scratch), given.pyodide)
    size = sum(file.stat().st_size for file in given.output.rglob("*") if file.is_file())
    print(f"{given.output.resolve()}: {size / 1e6:.0f} MB")


def build(output: Path, scratch: Path, pyodide: Path | None) -> None:
    """Write the site to `output`."""
    wheels, contents = scratch / "wheels", scratch / "contents"
    collect_wheels(wheels)
    copy_notebooks(contents)
    kernel: dict[str, Any] = {"disablePyPIFallback": True}
    if pyodide is not None:
        kernel["pyodideUrl"] = "./static/pyodide/pyodide.js"
    write(
        scratch / "jupyter-lite.json",
        {
            "jupyter-lite-schema-version": 0,
            "jupyter-config-data": {
                "appName": "minigrad",
                "exposeAppInBrowser": True,  # as `jupyterapp`, for the tests
                "litePluginSettings": {KERNEL: kernel},
            },
        },
    )
    write(
        scratch / "jupyter_lite_config.json",
        {
            "LiteBuildConfig": {"contents": [str(contents)], "output_dir": str(output)},
            "PipliteAddon": {"piplite_urls": [str(wheel) for wheel in sorted(wheels.iterdir())]},
        },
    )
    shutil.rmtree(output, ignore_errors=True)
    run(sys.executable, "-m", "jupyter", "lite", "build", "--lite-dir", scratch, cwd=scratch)
    (output / "index.html").write_text(OPENING, encoding="utf-8")
    if pyodide is not None:
        copy_pyodide(pyodide, output / "static" / "pyodide")


def collect_wheels(folder: Path) -> None:
    """Build our wheel, and download those of `wheels.txt`."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    # Of wheels for several platforms, take the one for all: Pyodide cannot use the others.
    only = ("--only-binary", ":all:", "--platform", "any", "--implementation", "py", "--abi", "none")
    run(*pip, "download", "--no-deps", *only, "--dest", folder, "--requirement", HERE / "wheels.txt")


def copy_notebooks(folder: Path) -> None:
    """Copy all notebooks, and write their student form into the folder `student`. Each names the site's
    kernel and begins with a cell that installs what it needs."""
    shutil.copytree(ROOT / "notebooks", folder, ignore=shutil.ignore_patterns("*.py", ".ipynb_checkpoints"))
    write_all(folder / "student", folder)
    for path in sorted(folder.rglob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        notebook["metadata"]["kernelspec"] = KERNELSPEC
        first = {
            "cell_type": "code",
            "execution_count": None,
            "id": "install",
            "metadata": {},
            "outputs": [],
            "source": [INSTALL],
        }
        notebook["cells"].insert(0, first)
        write(path, notebook)


def copy_pyodide(source: Path, folder: Path) -> None:
    """Copy of a distribution of Pyodide what the notebooks need."""
    listed = json.loads((source / "pyodide-lock.json").read_text(encoding="utf-8"))
    wanted, packages = list(PACKAGES), {}
    while wanted:
        name = wanted.pop().replace("_", "-")
        entry = listed["packages"].get(name)
        if name not in packages and entry is not None and (source / entry["file_name"]).exists():
            packages[name] = entry
            wanted += entry["depends"]
    folder.mkdir(parents=True)
    for entry in packages.values():
        shutil.copy(source / entry["file_name"], folder)
    for pattern in ("pyodide.*", "python_stdlib.zip"):
        for file in source.glob(pattern):
            shutil.copy(file, folder)
    write(folder / "pyodide-lock.json", {**listed, "packages": packages})


def write(path: Path, content: Any) -> None:
    """Write JSON."""
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command; what it prints is shown where it fails."""
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")


if __name__ == "__main__":
    main()
