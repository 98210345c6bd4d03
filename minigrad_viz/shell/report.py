"""What is shown of a recorded cell: its picture, its state table, its steps; on a page, as text, as files."""

from __future__ import annotations

import html
import itertools
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..drawing.ledger_sheet import LedgerSheet
from ..drawing.memory_sheet import MemorySheet, memory_sheet
from ..drawing.picture import Picture
from ..drawing.sheets import Sheet
from ..drawing.table import Table, table_of, to_html, to_text
from ..explaining import explanations_of
from ..model.fold import READABLE, opened_in
from ..model.scene import Scenes
from ..model.stage import Stage, in_cell
from ..model.views import View, views_of
from ..player.coaching import Coach
from ..player.living import Living, handles_in
from ..player.quiz_score import quiz_of
from ..player.score import Act, Panel
from ..player.static import player_html
from ..predicting.asking import fair
from ..predicting.asking import to_text as questions_to_text
from ..predicting.question import QuizQuestion
from ..predicting.questions import questions_of
from ..replay.live import Handle, Live, Refused
from ..replay.program import Program
from ..replay.training import Training
from ..steps.grouping import frames_inside
from ..steps.recursion import recursion_text
from ..steps.timeline import frames_of
from ..steps.timeline import to_markdown as steps_to_markdown
from ..steps.timeline import to_text as steps_to_text
from ..steps.told import Frame
from ..trace.events import Trace
from ..trace.explained import Explanation
from ..trace.graph import ROOT, Graph
from ..words import clean, language, text
from . import panel

if TYPE_CHECKING:
    from ..player.widget import Stepper

OPENED = 300  # stations in the boxes of all pictures that can be opened, but for those of the first
PLAYED = 1200  # stations that all pictures of a player may have together; drawing them takes about 3 s
ENDINGS = (".html", ".svg", ".png", ".pdf", ".dot", ".gv", ".mmd", ".json", ".txt")

PAGE = """\
<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root{{color-scheme:light dark}}
body{{margin:0 auto;padding:16px;max-width:1600px;font:15px/1.5 system-ui,"Segoe UI",sans-serif}}
</style>
</head>
<body>
{body}
</body>
</html>
"""


class Report:
    """A recorded cell, ready to be shown. It is made of plain data: no tensor is kept alive by it.

    `roots` limits the pictures to what these variables were computed from (ValueError if the cell has none
    of that name); `fold` makes one station of each long chain. `ledger` and `memory` say whether these sheets
    stand below the state table (None: where the ledger is telling). With `predict` the reader is asked first,
    and nothing that is shown gives an answer away. With a `program` the cell can be computed again, see
    `live`; with the option `live` readers can do so in the player. Further options are those of `Picture`.
    `explained` says why what went wrong did; `problem` is the traceback, if that could not be found out.
    """

    def __init__(
        self,
        trace: Trace,
        *,
        roots: tuple[str, ...] = (),
        lang: str | None = None,
        fold: bool = True,
        ledger: bool | None = None,
        memory: bool = False,
        predict: bool = False,
        program: Program | None = None,
        live: bool = False,
        **options: Any,
    ) -> None:
        self.trace, self.scenes = trace, Scenes(trace)
        self.program = program
        self._again = {"roots": roots, "fold": fold, "ledger": ledger, "memory": memory, **options}
        self.lang = lang = lang or language()
        self.explained: tuple[Explanation, ...] = ()
        self.problem = self._unexplained = self.refused = ""
        self._explain()
        self.views = views_of(self.scenes, roots=tuple(roots), fold=fold, lang=lang, explained=self.explained)
        self._live = live = live and not predict  # what moves gives answers away
        if live:
            options = {**options, "sliders": self._sliders()}
        self._pictures = [Picture(view.graph, lang=lang, **options) for view in self.views]
        self._options = options
        self._acts: dict[int, Act] = {}
        self._stepper: Stepper | None = None
        self.table: Table = table_of(trace, lang)
        self._asked = ledger, memory
        self.predict = predict

    def _explain(self) -> None:
        """Find explanations. A fault of ours in that must not take away the rest of what is shown."""
        try:
            self.explained = explanations_of(self.scenes, self.lang)
        except Exception as problem:
            self.explained = (Explanation("", self.trace.error),) if self.trace.error else ()
            self.problem = "".join(traceback.format_exception(problem))
            said = " ".join(f"{type(problem).__name__}: {problem}".split())
            self._unexplained = clean(text("unexplained", self.lang, problem=said))

    @cached_property
    def questions(self) -> tuple[QuizQuestion, ...]:
        """What a reader can be asked of the cell, but for an error that stands above it."""
        return fair(questions_of(self.scenes, self.explained, self.lang), self.trace.error is not None)

    @cached_property
    def ledger(self) -> LedgerSheet:
        """How the `.grad` of each tensor came to be what it is."""
        return LedgerSheet(self.scenes.index, self.lang)

    @cached_property
    def memory(self) -> MemorySheet:
        """What the graph kept for backward, in bytes."""
        return memory_sheet(self.scenes, self.lang)

    def _sheets(self) -> list[Sheet]:
        """The sheets below the state table that were asked for; the ledger also where it is telling."""
        ledger, memory = self._asked
        shown: list[Sheet] = [self.ledger] if ledger or (ledger is None and self.ledger.telling) else []
        return [sheet for sheet in (*shown, *([self.memory] if memory else [])) if sheet]

    # ── with other numbers ──────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def again(self) -> Live:
        """The cell, to be computed again with other numbers. Refused, a ValueError that says why, where that
        cannot be done."""
        return Live(self.trace, self.program, self.lang)

    @property
    def handles(self) -> tuple[Handle, ...]:
        """The numbers that `live` can change. Refused as in `again`."""
        return tuple(self.again.handles.values())

    def live(self, numbers: Mapping[str, float] | None = None, **named: float) -> Report:
        """The report of the cell as it would be with other numbers for its leaves: `live(x=5.6)`, or
        `live({"w[0]": 5.6})` for an element. The recorded operations are computed again; the cell itself does
        not run, and no variable changes. Refused as in `again`, or where the cell would take another way."""
        trace = self.again.at({**(numbers or {}), **named})
        return Report(trace, lang=self.lang, **self._again)

    def training(self) -> Training:
        """The loop of the cell, which can go on from its last round, as one of its own each time. It must
        have been recorded with `live=True`, or under `%%autograd --live`. Refused, a ValueError that says
        why, where further rounds cannot be computed."""
        return Training(self.trace, self.program, self.lang)

    def _coach(self) -> Coach | None:
        """Who goes on with the training in a widget, or says why it cannot; None for a cell without a loop,
        or where that was not asked for."""
        if not self._live or len(self.trace.rounds) < 2:
            return None
        name = next((card.name or "" for _, card in self.graph.cards() if card.role == ROOT), "")
        try:
            return Coach(self.training(), name, lang=self.lang)
        except Refused as refused:
            return Coach(None, name, text("training_refused", self.lang, why=str(refused)), self.lang)

    def _sliders(self) -> frozenset[str]:
        """The leaves that a reader can change, by their ids; without any, why there is none."""
        try:
            return frozenset(handle.id for handle in handles_in(self.again, self.graph))
        except Refused as refused:
            self.refused = text("live_refused", self.lang, why=str(refused))
            return frozenset()

    @cached_property
    def living(self) -> Living | None:
        """What a reader can change in the picture that is shown first; None if that was not asked for, or
        cannot be."""
        if not self._live or self.refused or self.trace.error:
            return None
        found = Living(self.again, self.picture, self.frames, self._remade)
        return found if found.handles else None

    def _remade(self, trace: Trace) -> tuple[Graph, Callable[[], Sequence[Frame]]]:
        """The graph that is shown first of another trace of the cell, and its steps."""
        roots, fold = self._again["roots"], self._again["fold"]
        view = views_of(Scenes(trace), roots=tuple(roots), fold=fold, lang=self.lang)[-1]
        return view.graph, lambda: frames_of(view.scene, view.graph, self.lang, ())

    # ── its parts ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def graph(self) -> Graph:
        """The graph that is shown first: that of the last backward call."""
        return self.views[-1].graph

    @property
    def picture(self) -> Picture:
        """Its picture."""
        return self._pictures[-1]

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Its steps."""
        return self.act(-1).frames

    @property
    def steps(self) -> Steps:
        """Its steps as text; in a notebook their arithmetic is typeset."""
        return Steps(self.frames, self.lang)

    @property
    def recursion(self) -> str:
        """Why nodes do not run by plain recursion: how often each would, and what would come out wrong."""
        view = self.views[-1]
        return recursion_text(Stage(view.scene, view.graph, self.lang))

    @property
    def acts(self) -> tuple[Act, ...]:
        """Picture and steps of every backward call that was kept."""
        return tuple(map(self.act, range(len(self.views))))

    def act(self, i: int) -> Act:
        """Picture and steps of one backward call, by its place among those that were kept."""
        i = range(len(self.views))[i]
        if i not in self._acts:
            view = self.views[i]
            frames = frames_of(view.scene, view.graph, self.lang, self.explained)
            panels = self._panels(view) if i in self._opening else ()
            started = view.scene.now.started
            at = None if started is None else in_cell(started.span)
            self._acts[i] = Act(view.label, self._pictures[i], frames, panels, at)
        return self._acts[i]

    @cached_property
    def _opening(self) -> set[int]:
        """The pictures whose boxes a reader can open: the one that is shown first, and the newest of the
        others, as many as are soon drawn."""
        found: set[int] = set()
        stations = 0
        for i in reversed(range(len(self.views))):
            view = self.views[i]
            stations += sum(len(fold.members) for fold in view.graph.folds) + len(view.aside.stations)
            if found and stations > OPENED:
                break
            found.add(i)
        return found

    def _panels(self, view: View) -> tuple[Panel, ...]:
        """What a reader can open in a picture: its boxes, and what stands aside."""
        opened = [(group.id, group.title, part) for group, part in opened_in(view.graph, view.whole)]
        if 0 < len(view.aside.stations) <= READABLE:
            opened.append(("aside", text("aside_open", self.lang), view.aside))
        frames = frames_inside(view.scene, view.graph, [part for _, _, part in opened])
        pictures = [Picture(part, lang=self.lang, **self._options) for _, _, part in opened]
        return tuple(
            Panel(box, title, picture, steps)
            for (box, title, _), picture, steps in zip(opened, pictures, frames)
        )

    def _played(self) -> tuple[tuple[Act, ...], tuple[float | None, ...], tuple[float | None, ...]]:
        """The acts of the player, which are the newest, as many as are soon drawn; of the calls before and
        after them the values of the roots."""
        sizes = itertools.accumulate(len(view.graph.stations) for view in reversed(self.views))
        count = max(1, sum(size <= PLAYED for size in sizes))
        first = len(self.views) - count
        earlier = max(self.views[first].call - 1, 0)
        values = self.trace.rounds[:earlier] if self.trace.rounds else (None,) * earlier
        later = self.trace.rounds[self.views[-1].call :]  # which the recorder only counted
        return tuple(map(self.act, range(first, len(self.views)))), values, later

    def stepper(self) -> Stepper:
        """The widget that walks through the steps; the same each time, until it is closed, so that Python
        can drive the one that is shown."""
        from ..player.widget import LiveStepper, Stepper

        if self._stepper is None or self._stepper.comm is None:
            acts, earlier, later = self._played()
            told = acts, self.trace.source, self.lang, earlier, later
            coach = self._coach()
            if self.living is None and coach is None:
                self._stepper = Stepper(*told)
            else:
                self._stepper = LiveStepper(*told, living=self.living, coach=coach)
        return self._stepper

    # ── as text and as HTML ─────────────────────────────────────────────────────────────────────────────────

    def head(self) -> list[str]:
        """What stands before a single picture: that the cell failed, and which of several calls is shown."""
        said = [text("graph_until_error", self.lang)] if self.trace.error else []
        return said + ([clean(self.views[-1].label)] if len(self.views) > 1 else [])

    def explanation(self) -> str:
        """What went wrong, why, and what to do; "" if all is well."""
        told = panel.to_text(self.explained, self.trace.error, self.lang)
        return "\n\n".join(filter(None, (told, self._unexplained)))

    def explanation_html(self, message: bool = True) -> str:
        """The same for a page; without the `message` where the traceback stands above."""
        told = panel.to_html(self.explained, self.trace.error, self.lang, message=message)
        return told + (paragraph(self._unexplained) if self._unexplained else "")

    def text(self, steps: bool = False, *, graph: bool = True, table: bool = True, why: bool = True) -> str:
        """Outline, what went wrong (unless `why` is False), and state table in words, and on request the
        numbered steps with their arithmetic."""
        said = self.explanation() if why else ""
        if not self.graph.stations:
            return "\n\n".join(filter(None, (text("no_tensors", self.lang), said)))
        if self.predict:
            known = said if self.trace.error else ""
            return "\n\n".join(filter(None, (questions_to_text(self.questions, self.lang), known)))
        parts = ["\n".join([*self.head(), self.picture.outline()])] if graph else []
        if said:
            parts.append(said)
        if table and self.table.rows:
            parts.append(to_text(self.table, self.lang))
        parts += [sheet.text() for sheet in self._sheets()]
        if steps:
            parts.append(str(self.steps))
        return "\n\n".join(parts)

    def html(
        self,
        show: str = "player",
        *,
        table: bool = True,
        pane: bool = False,
        message: bool = True,
        why: bool = True,
    ) -> str:
        """Why the cell failed, its graph, what else is to be said, and the state table, for a page. `show`
        says how the graph is shown: as a "player", as a "static" picture, or not at all ("none"). A picture
        that Graphviz itself draws has no parts that a player could mark: it is always static. With `pane`,
        the player's source is open: where no cell stands above it. `message` as in `explanation_html`; `why`
        is False where that stands elsewhere."""
        said = self.explanation_html(message) if why else ""
        if not self.graph.stations:
            return f"<p>{html.escape(text('no_tensors', self.lang))}</p>{said}"
        if show == "player" and self.picture.style != "house":
            show = "static"
        if self.predict:
            asked = self._player(pane) if show == "player" else preformatted(self.text(why=False))
            return said + asked if self.trace.error else asked
        shown = self._player(pane) if show == "player" else self._still() if show == "static" else ""
        parts = [to_html(self.table, self.lang)] if table and self.table.rows else []
        for sheet in self._sheets():
            parts.append(sheet.html(style=not parts))
        return "".join([said, shown, *parts] if self.trace.error else [shown, said, *parts])

    def _player(self, pane: bool) -> str:
        error = self.head()[:1] if self.trace.error else []
        acts, earlier, later = self._played()
        quiz, asked = self._quiz(acts)
        live = None if self.living is None else self.living.score()
        told = self.trace.source, self.lang, earlier, later
        player = player_html(acts, *told, pane=pane, quiz=quiz, instead=asked, live=live)
        return "".join(map(paragraph, [*error, *filter(None, [self.refused])])) + player

    def _quiz(self, acts: tuple[Act, ...]) -> tuple[str, str]:
        """What the player asks, and the same as text; both "" if it asks nothing."""
        if not self.predict:
            return "", ""
        calls = [view.call for view in self.views[-len(acts) :]]
        quiz = quiz_of(self.questions, acts, calls, self.lang)
        return quiz, self.text(why=False) if quiz else ""

    def _still(self) -> str:
        return "".join(map(paragraph, self.head())) + self.picture.html()

    def page(self, show: str = "player", *, table: bool = True) -> str:
        """A whole HTML page, which needs nothing else."""
        names = [card.name for _, card in self.graph.cards() if card.role == ROOT and card.name]
        title = text("picture_title", self.lang, names=", ".join(names)) if names else None
        return PAGE.format(
            lang=self.lang or language(),
            title=html.escape(clean(title or text("picture_title_plain", self.lang))),
            body=self.html(show, table=table, pane=True),
        )

    def save(
        self, path: str | Path, *, show: str = "player", table: bool = True, embed_fonts: bool = False
    ) -> Path:
        """Write a page (.html), the picture (.svg, .png, .pdf, .dot, .mmd), all in words (.txt), or the
        trace (.json). `show` and `table` are those of `page`, `embed_fonts` that of `Picture.save`.
        ValueError for other endings; .png and .pdf need the extra "export" or a native Graphviz
        (RuntimeError)."""
        path = Path(path)
        kind = path.suffix.lower()
        if kind == ".html":
            path.write_text(self.page(show, table=table), encoding="utf-8")
        elif kind == ".txt":
            told = self.text(steps=True, graph=show != "none", table=table)
            path.write_text(told + "\n", encoding="utf-8")
        elif kind == ".json":
            path.write_text(self.trace.to_json() + "\n", encoding="utf-8")
        elif kind in ENDINGS:
            self.picture.save(path, embed_fonts=embed_fonts)
        else:
            raise ValueError(f"cannot write {path.suffix!r}: use one of {', '.join(ENDINGS)}")
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        page = self.html()  # first, for the text tells what hindered it
        return {"text/plain": self.text(), "text/html": page}

    def __repr__(self) -> str:
        return self.text()


class Steps:
    """Steps as text, numbered, with their arithmetic; in a notebook the arithmetic is LaTeX."""

    def __init__(self, frames: tuple[Frame, ...], lang: str | None = None) -> None:
        self.frames = frames
        self.lang = lang

    def __repr__(self) -> str:
        return steps_to_text(self.frames, self.lang)

    def _repr_markdown_(self) -> str:
        return steps_to_markdown(self.frames, self.lang)


def preformatted(lines: str) -> str:
    """Lines of a terminal on a page."""
    return f"<pre>{html.escape(lines)}</pre>"


def paragraph(sentence: str) -> str:
    """A sentence above or below a picture."""
    style = "font:13px system-ui,sans-serif;margin:.3em 0"
    return f'<p style="{style}">{html.escape(sentence)}</p>'
