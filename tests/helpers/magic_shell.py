"""Fixtures: a real InteractiveShell with the extension loaded, as a terminal and as a notebook."""

from __future__ import annotations

import re

import pytest
from bare_shell import bare_shell
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

COLOUR = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """A shell with the extension loaded, and nothing of it left in the process afterwards."""
    monkeypatch.chdir(tmp_path)
    with bare_shell(tmp_path) as shell:
        shell.run_cell("%load_ext minigrad_viz\nimport minigrad as torch")
        yield shell
        shell.run_cell("%unload_ext minigrad_viz")


@pytest.fixture
def cell(shell, capsys):
    """Runs a cell; what stands under it on stdout and stderr, without colors."""

    def run(source: str) -> str:
        capsys.readouterr()
        shell.run_cell(source, store_history=True)
        out, error = capsys.readouterr()
        return COLOUR.sub("", out + error)

    return run


class Front(DisplayPublisher):
    """A frontend that keeps what is sent to it."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell=shell)
        self.sent: list[dict[str, str]] = []

    def publish(self, data, metadata=None, **kwargs):
        self.sent.append(data)


@pytest.fixture
def front(shell, cell):
    """Runs a cell in a notebook; what is displayed under it."""

    def run(source: str) -> list[dict[str, str]]:
        shell.display_pub = Front(shell)
        cell(source)
        return shell.display_pub.sent

    return run
