"""`%%autograd`: run a cell as it is, and show its graph under it."""

from __future__ import annotations

import argparse
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

import minigrad

from ..comparing.comparison import Comparison, comparison_with
from ..drawing.layout import load_in_background
from ..isolation import complete_work
from ..model.views import UnknownRoots
from ..player.static_html import widgets_are_shown
from ..predicting import answer_log
from ..replay import Watch, watch
from ..replay.program import Program
from ..trace.events import Forward, TensorCreated, Trace
from ..trace.joining import JoinedTrace
from ..words import text
from . import tracebacks
from .cell import CellRunner, vars_of
from .explain import explain, remember
from .first_writes import written_first
from .options import Reader, Settings, report_options, settings_class
from .report import Report
from .session import Session, cell_sources
from .treescope_tensors import follow_treescope, unregister_tensors

NAME = "autograd"


class MagicReader(Reader, MagicArgumentParser):
    """The options of the magic; a wrong one raises IPython's UsageError."""


def parser(settings: Settings) -> MagicReader:
    """The options of `%%autograd`; their help is in the language in force."""
    reader = MagicReader(prog=f"%{NAME}", description=text("magic_about", settings.lang))
    reader.color = False  # type: ignore[attr-defined]  # Python 3.14 would put color codes into the help
    reader.lang = lambda: settings.lang
    reader.add_argument("roots", nargs="*", help=text("option_roots", settings.lang))
    reader.add_argument(
        "--vs", metavar="NAME", default=argparse.SUPPRESS, help=text("option_vs", settings.lang)
    )
    return reader.take()


class WatchedCell(NamedTuple):
    """A cell that is running: what was asked for, whether only by `%autograd on`, who watches, its number in
    the notebook, and the sources of the cells before it."""

    chosen: dict[str, Any]
    automatic: bool
    watch: Watch
    label: str
    sources: dict[str, str]


class Watcher:
    """Records cells of one shell and shows them; `settings` hold for all that a line leaves open."""

    def __init__(self, shell: Any, settings: Settings) -> None:
        self.shell = shell
        self.settings = settings
        self.session = Session()

    def begin(self, options: argparse.Namespace, source: str, namespace: dict[str, Any]) -> WatchedCell:
        """Start to record, just before the cell runs."""
        chosen = {"roots": (), "vs": "", **self.settings.defaults(), **vars(options)}
        if chosen["table"] is None and chosen["show"] == "static":
            chosen["table"] = False
        runner = runner_of(self.shell)
        label, sources = cell_sources(self.shell, source, () if runner is None else runner.unstored)
        watched = watch(source, namespace, rounds=bool(chosen["live"]))
        self.session.begin(watched.recorder)
        watched.recorder.bring(written_first(source, namespace))
        return WatchedCell(chosen, options.automatic, watched, label, sources)

    def end(self, watched: WatchedCell, *, error: BaseException | None, result_silenced: bool) -> str | None:
        """Stop recording and show what there is, just after the cell's own output. Gives the traceback where
        that could not be explained."""
        trace, program = watched.watch.stop(error)
        notebook = self.session.end(watched.watch.recorder, trace, watched.label, watched.sources)
        unasked = watched.automatic and not any(len(trace.of(kind)) for kind in (TensorCreated, Forward))
        if unasked and error is None:
            return None
        report = self.report(trace, watched.chosen, program, notebook)
        if unasked and not any(each.key for each in report.explained):
            return None
        remember(report, error, watched.watch.recorder.tape.ids)
        name, lang = watched.chosen["vs"], watched.chosen["lang"]
        self.show(report, watched.chosen, comparison_with(name, trace, lang) if name else None)
        return report.problem or None

    def drop(self, watched: WatchedCell) -> None:
        """Stop recording a cell that could not be shown."""
        complete_work(watched.watch.detach)

    def report(
        self,
        trace: Trace,
        chosen: dict[str, Any],
        program: Program | None = None,
        notebook: JoinedTrace | None = None,
    ) -> Report:
        """The report of a trace. A root that the cell does not have is left out, with a message."""
        roots, options = tuple(chosen["roots"]), {"program": program, **report_options(chosen)}
        options["notebook"] = notebook
        try:
            return Report(trace, roots=roots, **options)
        except UnknownRoots as problem:
            for name in problem.missing:
                close = get_close_matches(name, problem.known, 1)
                names = ", ".join(problem.known) or "–"
                values = {"root": name, "names": names, "close": "".join(close)}
                print(text("root_unknown", chosen["lang"], **values), file=sys.stderr)
            known = tuple(root for root in roots if root not in problem.missing)
            return Report(trace, roots=known, **options)

    def show(self, report: Report, chosen: dict[str, Any], compared: Comparison | None = None) -> None:
        """Display a report as was asked, or in its place how the run `compared` with another, and write its
        files; one that cannot be written is only reported."""
        rich = shows_html(self.shell)
        if compared is not None:
            show_comparison(compared, report, rich)
        elif rich:
            show_rich(report, chosen)
        else:
            show_text(report, chosen)
        if chosen["vs"] and compared is None:
            print(text("compare_kept", chosen["lang"], name=chosen["vs"]))
        shown = report if compared is None else compared
        form = "player" if chosen["show"] == "step" else chosen["show"]
        for file in chosen["output"]:
            try:
                shown.save(file, show=form, table=chosen["table"], embed_fonts=chosen["embed_fonts"])
            except (OSError, RuntimeError, ValueError) as problem:
                said = " ".join(str(problem).split())
                print(text("file_failed", chosen["lang"], file=file, problem=said), file=sys.stderr)


def shows_html(shell: Any) -> bool:
    """Whether what is displayed goes to a frontend; IPython's own publisher prints its text and no more."""
    return type(shell.display_pub) is not DisplayPublisher


def show_comparison(compared: Comparison, report: Report, rich: bool) -> None:
    """How a run compared with another; if it failed, first why it did."""
    from IPython.display import display

    why = report.explanation() if report.trace.error else ""
    if not rich:
        print("\n\n".join(filter(None, (why, compared.text()))))
        return
    if why:
        display({"text/plain": why, "text/html": report.explanation_html(message=False)}, raw=True)
    display(compared)


def show_text(report: Report, chosen: dict[str, Any]) -> None:
    """In a terminal: the outline, the table, and the steps where they are asked for."""
    show = chosen["show"]
    steps = chosen["steps"] or show == "step"
    told = report.text(steps, graph=show != "none", table=chosen["table"] is not False)
    if told:
        print(told)


def show_rich(report: Report, chosen: dict[str, Any]) -> None:
    """In a notebook, under the traceback of a cell that failed: why it did; player, widget or picture, the
    table, and the steps where they are asked for. Answers are noted by the kernel, so it is a widget that
    asks for them."""
    from IPython.display import display

    show, table, why = chosen["show"], chosen["table"], True
    if show == "player" and report.predict and answer_log.file is not None:
        show = "step"
    if show == "step" and not widgets_are_shown():
        show = "player"
    if show == "step" and report.graph.stations:
        said = report.explanation_html(message=False) if report.trace.error else ""
        if said:
            display({"text/plain": report.explanation(), "text/html": said}, raw=True)
        display(report.stepper())
        show, why = "none", not said
        if report.predict:
            return
    page = report.html(show, table=table, message=False, why=why)  # first: the text tells what hindered it
    if page:
        told = report.text(graph=show != "none", table=table is not False, why=why)
        display(report.bundle(told, page), raw=True)
    if chosen["steps"] and not report.predict:
        display(report.steps)


# ── registering ─────────────────────────────────────────────────────────────────────────────────────────────


def runner_of(shell: Any) -> CellRunner | None:
    """The runner that is registered with a shell; the shell itself knows it."""
    return vars_of(shell.magics_manager.magics["cell"].get(NAME)).get("runner")


def load(shell: Any) -> None:
    """Register `%%autograd`, `%autograd` and `%config Autograd` with a shell, and leave our frames out of its
    tracebacks; nothing happens if they are registered."""
    if runner_of(shell) is not None:
        return
    settings = settings_class()(parent=shell)
    watcher = Watcher(shell, settings)
    words = {
        "explain": (
            "magic_line_explain",
            lambda _: explain(lang=settings.lang) if settings.lang else explain(),
        ),
        "torch": ("magic_line_torch", lambda line: torch_means(line, settings.lang)),
    }
    lang, reader = (lambda: settings.lang), parser(settings)
    runner = CellRunner(shell, NAME, watcher.begin, watcher.end, reader, lang, words, watcher.drop)
    runner.switched = lambda on: settings.set_trait("on", on)
    settings.observe(lambda change: follow(runner, change["new"]), "on")
    settings.observe(lambda change: note_answers_in(change["new"]), "log")
    note_answers_in(settings.log)
    runner.install()
    load_in_background()
    tracebacks.install(shell, NAME)
    shell.configurables.append(settings)
    follow(runner, settings.on)
    follow_treescope(shell, lambda: runner_of(shell) is runner)


def torch_means(line: str, lang: str | None) -> None:
    """Do what `%autograd torch LINE` says. UsageError if it is not minigrad, or too late."""
    if line != "minigrad":
        raise UsageError(text("magic_torch_wrong", lang))
    try:
        minigrad.install_as_torch()
    except RuntimeError:
        raise UsageError(text("magic_torch_late", lang)) from None


def note_answers_in(name: str) -> None:
    """Note answers in the file of this name; "" notes none."""
    answer_log.file = Path(name) if name else None


def follow(runner: CellRunner, on: bool) -> None:
    """Do what `Autograd.on` says, unless the runner does so already (with arguments of its own)."""
    if on != (runner.always is not None):
        runner.always = "" if on else None


def unload(shell: Any) -> None:
    """Remove everything that `load` registered."""
    runner = runner_of(shell)
    if runner is not None:
        runner.uninstall()
        answer_log.file = None
        unregister_tensors()
        tracebacks.uninstall(shell)
        shell.configurables[:] = [c for c in shell.configurables if not isinstance(c, Settings)]
