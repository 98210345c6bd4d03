"""`%%autograd`: run a cell as it is, and show its graph under it."""

from __future__ import annotations

import argparse
from typing import Any

from .cell import CellRunner, UsageError, option_parser, vars_of
from .events import Created, Forward
from .recorder import Recorder
from .run import Report

NAME = "autograd"
DESCRIPTION = (
    "Run the cell as usual and show, under its own output, the graph of its tensors with their values and "
    "gradients, and a table of their state before and after each backward()."
)


def parser() -> Any:
    """The options of `%%autograd`."""
    options = option_parser(NAME, DESCRIPTION)
    options.add_argument("roots", nargs="*", help="draw only what these variables were computed from")
    options.add_argument("--step", action="store_true", help="a widget that walks through the steps")
    options.add_argument(
        "--detail", choices=("normal", "full"), default="normal", help="rows on each station"
    )
    options.add_argument(
        "--style", choices=("house", "graphviz"), default="house", help="who draws the graph"
    )
    options.add_argument("--lang", choices=("en", "ko"), default=None, help="language of what is shown")
    options.add_argument("--no-table", action="store_true", help="leave out the state table")
    options.add_argument("--no-graph", action="store_true", help="leave out the picture")
    options.add_argument(
        "--max-nodes", type=int, default=None, metavar="N", help="draw graphs of up to N stations"
    )
    options.add_argument(
        "--output", metavar="FILE", help="also write the picture to FILE (.svg .dot .txt .png .pdf)"
    )
    return options


def begin(
    options: argparse.Namespace, source: str, namespace: dict[str, Any]
) -> tuple[argparse.Namespace, Recorder]:
    """Start to record, just before the cell runs."""
    if options.max_nodes is not None and options.max_nodes < 1:
        raise UsageError(f"--max-nodes must be at least 1, not {options.max_nodes}")
    recorder = Recorder(source, namespace)
    recorder.start()
    return options, recorder


def end(
    handle: tuple[argparse.Namespace, Recorder], *, error: BaseException | None, result_silenced: bool
) -> None:
    """Stop recording and show what there is, just after the cell's own output."""
    options, recorder = handle
    trace = recorder.stop(error)
    if options.automatic and not any(isinstance(e, Created | Forward) for e in trace.events):
        return
    settings: dict[str, Any] = {"detail": options.detail, "style": options.style}
    if options.max_nodes is not None:
        settings["limit"] = options.max_nodes
    report = Report(trace, roots=tuple(options.roots), lang=options.lang, **settings)
    show(report, options)


def show(report: Report, options: argparse.Namespace) -> None:
    """Display a report as the options ask."""
    from IPython.display import display

    if options.output:
        report.picture.save(options.output)
    if options.step:
        from .widget import Stepper

        display(Stepper(report.picture, report.frames))
        options.no_graph = True
    if not (options.no_graph and options.no_table):
        display(report.without(graph=options.no_graph, table=options.no_table))


def runner_of(shell: Any) -> CellRunner | None:
    """The runner that is registered with a shell; the shell itself knows it."""
    return vars_of(shell.magics_manager.magics["cell"].get(NAME)).get("runner")


def load(shell: Any) -> None:
    """Register `%%autograd` and `%autograd` with a shell; nothing happens if they are registered."""
    if runner_of(shell) is None:
        CellRunner(shell, NAME, begin, end, parser()).install()


def unload(shell: Any) -> None:
    """Take everything away that `load` registered."""
    runner = runner_of(shell)
    if runner is not None:
        runner.uninstall()
