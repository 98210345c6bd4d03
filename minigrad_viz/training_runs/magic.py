"""`%%doctor`: watch a cell as a training run, and show the report below its output."""

from __future__ import annotations

import argparse
import re
from typing import Any

from IPython.core.magic_arguments import MagicArgumentParser

from ..shell.cell import CellRunner, vars_of
from ..shell.magic import shows_html
from ..shell.options import Reader
from ..words import CATALOGUES, text
from .doctor import Doctor, doctor

NAME = "doctor"


class MagicReader(Reader, MagicArgumentParser):
    """The options of the magic; a wrong one raises IPython's UsageError."""


def parser() -> MagicReader:
    reader = MagicReader(prog=f"%{NAME}", description=text("doctor_magic_about"))
    reader.color = False  # type: ignore[attr-defined]  # Python 3.14 would put color codes into the help
    reader.take(())
    reader.add_argument("--silence", metavar="KEY", action="append", help=text("doctor_help_silence"))
    reader.add_argument("--html", metavar="FILE", help=text("doctor_help_html"))
    reader.add_argument("--record", metavar="STEP", type=int, help=text("doctor_help_record"))
    reader.add_argument("--lang", choices=list(CATALOGUES), help=text("doctor_help_lang"))
    return reader


class Cells:
    """Watches the cells of one shell."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell

    def begin(
        self, options: argparse.Namespace, source: str, namespace: dict[str, Any]
    ) -> tuple[Doctor, Any]:
        """Start to watch, just before the cell runs, with the models and optimizers that it names."""
        silence, lang = getattr(options, "silence", ()), getattr(options, "lang", None)
        record = getattr(options, "record", 0) or 0
        named = set(re.findall(r"\b[A-Za-z_]\w*\b", source))
        given = [value for name, value in namespace.items() if name in named and not name.startswith("_")]
        d = doctor(*given, silence=silence or (), record=record, lang=lang, show=False)
        d.__enter__()
        return d, getattr(options, "html", None)

    def end(self, handle: tuple[Doctor, Any], *, error: BaseException | None, result_silenced: bool) -> None:
        """Stop watching and show the report, just after the cell's own output."""
        d, path = handle
        d.__exit__(type(error) if error else None, error, None)
        self.shell.user_ns["_doctor"] = d
        if path:
            d.save(path)
        if shows_html(self.shell):
            from IPython.display import display

            display({"text/plain": d.text(), "text/html": d._repr_html_()}, raw=True)
        else:
            print(d.text())

    def drop(self, handle: tuple[Doctor, Any]) -> None:
        """Stop watching a cell that could not be shown."""
        if handle[0].running:
            handle[0].__exit__(None, None, None)


def runner_of(shell: Any) -> CellRunner | None:
    return vars_of(shell.magics_manager.magics["cell"].get(NAME)).get("runner")


def register_magic(shell: Any) -> None:
    """Register `%%doctor` with a shell."""
    if runner_of(shell) is None:
        cells = Cells(shell)
        CellRunner(shell, NAME, cells.begin, cells.end, parser(), drop=cells.drop).install()


def unload(shell: Any) -> None:
    """Remove it."""
    runner = runner_of(shell)
    if runner is not None:
        runner.uninstall()
