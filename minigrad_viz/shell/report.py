"""What is shown of a recorded cell: its picture, its state table, its steps; on a page, as text, as files."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..collector import uncollected
from ..drawing.ledger_sheet import LedgerSheet
from ..drawing.memory_sheet import MemorySheet, memory_sheet
from ..drawing.picture import Picture
from ..drawing.sheets import Sheet
from ..drawing.still import paragraph, preformatted, whole_page
from ..drawing.table import Table, table_of, to_html, to_text
from ..model.scene import Scenes
from ..model.stage import Stage
from ..model.views import views_of
from ..player.acts import Act, Acts
from ..player.living import Living
from ..player.quiz_score import quiz_of
from ..player.static import player_html
from ..predicting import asking
from ..predicting.question import QuizQuestion
from ..predicting.questions import questions_of
from ..replay.live import Handle, Live
from ..replay.program import Program
from ..replay.training import Training
from ..steps.recursion import recursion_text
from ..steps.timeline import Steps
from ..steps.told import Frame
from ..trace.events import Trace
from ..trace.graph import ROOT, Graph
from ..words import clean, language, text
from .options import ENDINGS
from .other_numbers import OtherNumbers
from .panel import Findings

if TYPE_CHECKING:
    from ..player.widget import Stepper


HEAVIEST = 500_000  # characters of a player; what stands below it takes up to 100,000 more


class Report:
    """A recorded cell, ready to be shown. It is made of plain data: no tensor is kept alive by it.

    `roots` limits the pictures to what these variables were computed from (ValueError if the cell has none
    of that name); `fold` makes one station of each long chain. `ledger` and `memory` say whether these sheets
    stand below the state table (None: where the ledger is telling). With `predict` the reader is asked first,
    and nothing that is shown gives an answer away. With a `program` the cell can be computed again, see
    `live`; with the option `live` readers can do so in the player. Further options are those of `Picture`.
    `explained` says why what went wrong did; `problem` is the traceback, if that could not be found out.
    """

    @uncollected
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
        self._findings = Findings(self.scenes, lang)
        self.explained, self.problem = self._findings.explained, self._findings.problem
        roots, self.refused = tuple(roots), ""
        self.views = views_of(self.scenes, roots=roots, fold=fold, lang=lang, explained=self.explained)
        self._numbers = OtherNumbers(self.scenes, program, self.graph, lang, roots=roots, fold=fold)
        self._live = live = live and not predict  # what moves gives answers away
        if live:
            sliders, self.refused = self._numbers.sliders()
            options = {**options, "sliders": sliders}
        self._acts = Acts(self.views, trace.rounds, self.explained, lang, options)
        self._stepper: Stepper | None = None
        self.table: Table = table_of(trace, lang)
        self._asked = ledger, memory
        self.predict = predict

    @cached_property
    def questions(self) -> tuple[QuizQuestion, ...]:
        """What a reader can be asked of the cell, but for an error that stands above it."""
        failed = self.trace.error is not None
        return asking.fair(questions_of(self.scenes, self.explained, self.lang), failed)

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

    @property
    def again(self) -> Live:
        """The cell, to be computed again with other numbers. Refused, a ValueError that says why, where that
        cannot be done."""
        return self._numbers.again

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
        return self._numbers.training()

    @cached_property
    def living(self) -> Living | None:
        """What a reader can change in the picture that is shown first; None if that was not asked for, or
        cannot be."""
        if not self._live or self.refused or self.trace.error:
            return None
        return self._numbers.living(self.picture, self.frames)

    @property
    def graph(self) -> Graph:
        """The graph that is shown first: that of the last backward call."""
        return self.views[-1].graph

    @property
    def picture(self) -> Picture:
        """Its picture."""
        return self._acts.pictures[-1]

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
        return self._acts.act(i)

    def stepper(self) -> Stepper:
        """The widget that walks through the steps; the same each time, until it is closed, so that Python
        can drive the one that is shown."""
        from ..player.widget import LiveStepper, Stepper

        if self._stepper is None or self._stepper.comm is None:
            acts, earlier, later = self._acts.played()
            told = acts, self.trace.source, self.lang, earlier, later
            coach = self._numbers.coach() if self._live else None
            if self.living is None and coach is None:
                self._stepper = Stepper(*told)
            else:
                self._stepper = LiveStepper(*told, living=self.living, coach=coach)
        return self._stepper

    def head(self) -> list[str]:
        """What stands before a single picture: that the cell failed, and which of several calls is shown."""
        said = [text("graph_until_error", self.lang)] if self.trace.error else []
        return said + ([clean(self.views[-1].label)] if len(self.views) > 1 else [])

    def explanation(self) -> str:
        """What went wrong, why, and what to do; "" if all is well."""
        return self._findings.text()

    def explanation_html(self, message: bool = True) -> str:
        """The same for a page; without the `message` where the traceback stands above."""
        return self._findings.html(message)

    @uncollected
    def text(self, steps: bool = False, *, graph: bool = True, table: bool = True, why: bool = True) -> str:
        """Outline, what went wrong (unless `why` is False), and state table in words, and on request the
        numbered steps with their arithmetic."""
        said = self.explanation() if why else ""
        if not self.graph.stations:
            return "\n\n".join(filter(None, (text("no_tensors", self.lang), said)))
        if self.predict:
            known = said if self.trace.error else ""
            return "\n\n".join(filter(None, (asking.to_text(self.questions, self.lang), known)))
        parts = ["\n".join([*self.head(), self.picture.outline()])] if graph else []
        if said:
            parts.append(said)
        if table and self.table.rows:
            parts.append(to_text(self.table, self.lang))
        parts += [sheet.text() for sheet in self._sheets()]
        if steps:
            parts.append(str(self.steps))
        return "\n\n".join(parts)

    @uncollected
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
        shown = self._player(pane) if show == "player" else ""
        if show == "static":
            shown = "".join(map(paragraph, self.head())) + self.picture.html()
        parts = [to_html(self.table, self.lang)] if table and self.table.rows else []
        for sheet in self._sheets():
            parts.append(sheet.html(style=not parts))
        return "".join([said, shown, *parts] if self.trace.error else [shown, said, *parts])

    def _player(self, pane: bool) -> str:
        error = self.head()[:1] if self.trace.error else []
        acts, earlier, later = self._acts.played()
        player = self._player_of(acts, earlier, later, pane)
        while len(player) > HEAVIEST and len(acts) > 1:
            acts, earlier, later = self._acts.played(len(acts) // 2)
            player = self._player_of(acts, earlier, later, pane)
        return "".join(map(paragraph, [*error, *filter(None, [self.refused])])) + player

    def _player_of(
        self, acts: Sequence[Act], earlier: Sequence[Any], later: Sequence[Any], pane: bool
    ) -> str:
        """The player of some acts, before and after which other backward calls stood."""
        quiz = asked = ""
        if self.predict:
            calls = [view.call for view in self.views[-len(acts) :]]
            quiz = quiz_of(self.questions, acts, calls, self.lang)
            asked = self.text(why=False) if quiz else ""
        live = None if self.living is None else self.living.score()
        told = self.trace.source, self.lang, earlier, later
        return player_html(acts, *told, pane=pane, quiz=quiz, instead=asked, live=live)

    def page(self, show: str = "player", *, table: bool = True) -> str:
        """A whole HTML page, which needs nothing else."""
        names = [card.name for _, card in self.graph.cards() if card.role == ROOT and card.name]
        title = text("picture_title", self.lang, names=", ".join(names))
        return whole_page(title, self.html(show, table=table, pane=True), self.lang)

    def save(
        self, path: str | Path, *, show: str = "player", table: bool = True, embed_fonts: bool = False
    ) -> Path:
        """Write a page (.html), the picture (.svg, .png, .pdf, .dot, .mmd), all in words (.txt), or the
        trace (.json). `show` and `table` are those of `page`, `embed_fonts` that of `Picture.save`.
        ValueError for other endings; .png and .pdf need the extra "export" or a native Graphviz
        (RuntimeError)."""
        path = Path(path)
        texts = {
            ".html": lambda: self.page(show, table=table),
            ".txt": lambda: self.text(steps=True, graph=show != "none", table=table) + "\n",
            ".json": lambda: self.trace.to_json() + "\n",
        }
        kind = path.suffix.lower()
        if kind not in ENDINGS:
            raise ValueError(f"cannot write {path.suffix!r}: use one of {', '.join(ENDINGS)}")
        if kind in texts:
            path.write_text(texts[kind](), encoding="utf-8")
        else:
            self.picture.save(path, embed_fonts=embed_fonts)
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        page = self.html()  # first, for the text tells what hindered it
        return {"text/plain": self.text(), "text/html": page}

    def __repr__(self) -> str:
        return self.text()
