"""`python -m minigrad_viz kernel`: a Jupyter kernel in which every cell is shown as under `%%autograd`.

It is ipykernel's, started with the extension and `Autograd.on`. A kernel is installed by putting a folder
with a `kernel.json` where Jupyter looks for it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from ..words import text

NAME = "python3-autograd"
DISPLAY_NAME = "Python 3 (autograd)"
ARGUMENTS = ["--ext=minigrad_viz", "--Autograd.on=True"]
PLAIN = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?")  # names that are safe as a folder everywhere


class KernelError(RuntimeError):
    """A kernel cannot be installed or removed; the text says why."""


def folder_of(name: str, prefix: str | Path | None = None, user: bool = False) -> Path:
    """Where the kernel called `name` is or goes: below `prefix` (default: this Python's environment), or in
    the user's own folder. KernelError for a name that could mean another place."""
    if not PLAIN.fullmatch(name):
        raise KernelError(text("kernel_bad_name", name=name))
    if user:
        from jupyter_core.paths import jupyter_data_dir

        return Path(jupyter_data_dir(), "kernels", name)
    return Path(prefix or sys.prefix, "share", "jupyter", "kernels", name)


def install(
    name: str = NAME,
    display_name: str | None = None,
    prefix: str | Path | None = None,
    user: bool = False,
) -> Path:
    """Install the kernel and give its folder; one of that name that was installed so before is replaced.

    All of it is there or nothing. KernelError for an odd name, if there is another kernel of that name, or
    without ipykernel; OSError if the place cannot be written.
    """
    try:
        from ipykernel.kernelspec import write_kernel_spec
    except ImportError as problem:
        raise KernelError(text("kernel_needs", problem=problem)) from None
    folder = folder_of(name, prefix, user)
    if folder.exists() and not is_ours(folder):
        raise KernelError(text("kernel_foreign", path=folder))
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Beside the folder of all kernels, not in it, where Jupyter would take it for one.
    with tempfile.TemporaryDirectory(prefix=".kernel-", dir=folder.parent.parent) as scratch:
        fresh = write_kernel_spec(
            Path(scratch, "new"), {"display_name": display_name or DISPLAY_NAME}, ARGUMENTS
        )
        replace(folder, Path(fresh), Path(scratch, "old"))
    return folder


def replace(folder: Path, fresh: Path, aside: Path) -> None:
    """Put `fresh` where `folder` is; if that fails, what was there stays."""
    if folder.exists():
        os.rename(folder, aside)
    try:
        os.rename(fresh, folder)
    except OSError:
        if aside.exists():
            os.rename(aside, folder)
        raise


def uninstall(name: str = NAME, prefix: str | Path | None = None, user: bool = False) -> Path:
    """Remove the kernel and return its folder. KernelError if there is none of that name, or
    another."""
    folder = folder_of(name, prefix, user)
    if not folder.exists():
        raise KernelError(text("kernel_missing", name=name, path=folder.parent))
    if not is_ours(folder):
        raise KernelError(text("kernel_foreign", path=folder))
    shutil.rmtree(folder)
    return folder


def is_ours(folder: Path) -> bool:
    """Whether a folder holds a kernel that `install` made."""
    try:
        spec = json.loads((folder / "kernel.json").read_text(encoding="utf-8"))
        return spec["argv"][-len(ARGUMENTS) :] == ARGUMENTS
    except (OSError, ValueError, KeyError, TypeError):
        return False


# ── the command ─────────────────────────────────────────────────────────────────────────────────────────────


def options() -> argparse.ArgumentParser:
    """The command line of `python -m minigrad_viz kernel`."""
    parser = argparse.ArgumentParser(prog="python -m minigrad_viz kernel", description=text("kernel_about"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="install | uninstall")
    for command, told in (("install", text("kernel_install")), ("uninstall", text("kernel_uninstall"))):
        one = commands.add_parser(command, help=told, description=told)
        where = one.add_mutually_exclusive_group()
        where.add_argument("--sys-prefix", action="store_true", help=text("kernel_sys_prefix"))
        where.add_argument("--user", action="store_true", help=text("kernel_user"))
        where.add_argument("--prefix", metavar="P", help=text("kernel_prefix"))
        one.add_argument("--name", default=NAME, help=text("kernel_name", default=NAME))
        if command == "install":
            told = text("kernel_display_name", default=DISPLAY_NAME)
            one.add_argument("--display-name", metavar="TEXT", help=told)
    return parser


def main(arguments: list[str]) -> int:
    """Run the command; 0 if it did what was asked, else 1."""
    given: Any = options().parse_args(arguments)
    try:
        if given.command == "install":
            folder = install(given.name, given.display_name, given.prefix, given.user)
            print(text("kernel_installed", name=given.name, path=folder))
        else:
            folder = uninstall(given.name, given.prefix, given.user)
            print(text("kernel_removed", name=given.name, path=folder))
    except KernelError as problem:
        print(problem, file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"{problem.filename}: {problem.strerror or problem}", file=sys.stderr)
        return 1
    return 0
