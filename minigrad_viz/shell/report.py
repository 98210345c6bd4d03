"""What is shown for a recorded cell: its picture, its state table, its steps, its errors; on a page, as
text, as files.

It needs no script, and reads well on a page that removes its style.
"""

from __future__ import annotations

import html
import re
import traceback
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..drawing import matrices
from ..drawing.export import paragraph, terminal_html, whole_page
from ..drawing.picture import Picture
from ..drawing.sheets import (
    LedgerSheet,
    MemorySheet,
    Sheet,
    Table,
    memory_sheet,
    table_html,
    table_of,
    table_text,
)
from ..drawing.strip_pictures import StripPicture
from ..drawing.style import element
from ..explaining import explanations_in, explanations_of
from ..isolation import pass_on, without_collection
from ..model.scene import Scenes
from ..model.strip import Strip, strip_of
from ..model.strip_insides import Depth
from ..model.views import Stage, views_of
from ..player.acts import Act, Acts, with_data_once
from ..player.learning import learning_of
from ..player.live_values import Coach, LivePicture, handles_in
from ..player.offers import LIVE, PREDICT, offers_of
from ..player.quiz import quiz_of
from ..player.static_html import player_html
from ..predicting import question
from ..predicting.question import QuizQuestion
from ..predicting.questions import faded_questions, questions_of
from ..replay.live import Handle, Live, ReplayRefusal
from ..replay.program import Program
from ..replay.training import Training
from ..sharing.film import FILMS, save_film
from ..sharing.slides import save_slides
from ..sharing.step_pages import StepPages, save_still
from ..sharing.worksheet import Worksheet, another_cell
from ..steps.frames import Frame
from ..steps.recursion import recursion_text
from ..steps.timeline import Steps, frames_of
from ..trace.bundle import trace_bundle
from ..trace.events import Trace
from ..trace.graph import ROOT, Explanation, Graph
from ..trace.joining import JoinedTrace
from ..words import clean, language, shorten, text
from .options import ENDINGS

if TYPE_CHECKING:
    from ..player.widget import Stepper


# ─── What stands under a picture when something went wrong, as text and for a page


CODE = re.compile("`([^`]+)`")
CAUSE = 100  # columns of the line that led to an error
NOTES = 3  # notes that are shown; a loop may give many of them

# The text has the color of the page; the background is translucent, so it suits light and dark pages.
STYLE = element("panel", Path(__file__).parent)


def worth_showing(explained: Sequence[Explanation]) -> list[Explanation]:
    """Of all that is explained the last error, and the notes (which have no error), each once."""
    errors = [each for each in explained if each.error][-1:]
    notes = {(each.why, each.fix): each for each in explained if not each.error}
    return errors + list(notes.values())[:NOTES]


def lines_of(shown: Explanation, ended: str | None, lang: str | None) -> list[tuple[str, str, str]]:
    """The kind, the label and the content of each line. `ended` is the error that ended the cell: another one
    was caught."""
    lines = []
    if shown.error:
        label = "error" if shown.error == ended else "error_caught"
        lines.append(("error", text(label, lang), clean_lines(shown.error)))
    why = text("why" if shown.error else "note", lang)
    lines.append(("why", why, clean_lines(shown.why)))
    if shown.cause is not None and not shown.cause.origin:
        at = text("cause_at", lang, line=shown.cause.line)
        lines.append(("cause", at, shorten(clean(shown.cause.flat), CAUSE)))
    lines.append(("fix", text("fix", lang), clean_lines(shown.fix)))
    return [line for line in lines if line[2]]


def clean_lines(content: str) -> str:
    """Text that may be shown, with its line breaks."""
    return "\n".join(map(clean, content.split("\n")))


def panel_text(explained: Sequence[Explanation], ended: str | None = None, lang: str | None = None) -> str:
    """The panel in words; "" if there is nothing to say."""
    told = (
        "\n".join(
            [f"{label}: {content}" for _, label, content in lines_of(shown, ended, lang)]
            + [matrices.matrices_text(group, lang) for group in shown.matrices]
        )
        for shown in worth_showing(explained)
    )
    return "\n\n".join(filter(None, told))


def with_code(content: str) -> str:
    """A sentence for a page; what is between backticks is code."""
    return CODE.sub(r"<code>\1</code>", html.escape(content))


def panel_html(
    explained: Sequence[Explanation],
    ended: str | None = None,
    lang: str | None = None,
    *,
    message: bool = True,
) -> str:
    """The panel for a page; "" if there is nothing to say. Without `message` the error that ended the cell is
    not repeated: its traceback is above."""
    parts = []
    for shown in worth_showing(explained):
        lines = lines_of(shown, ended, lang)
        if not message and shown.error == ended:
            lines = [line for line in lines if line[0] != "error"]
        if not lines:
            continue
        about, classes = html.escape(lines[0][1]), "mge" if shown.error else "mge note"
        parts.append(f'<div class="{classes}" role="group" aria-label="{about}"><dl>')
        for kind, label, content in lines:
            monospace = ' class="e"' if kind in ("error", "cause") else ""
            said = html.escape(content) if monospace else with_code(content)
            parts.append(f"<dt>{html.escape(label)}</dt><dd{monospace}>{said}</dd>")
        parts.append(f"</dl>{matrices.matrices_html(shown.matrices, lang)}</div>")
    style = STYLE + (matrices.STYLE if any(shown.matrices for shown in explained) else "")
    return style + "".join(parts) if parts else ""


def closed_section(title: str, content: str) -> str:
    """Part of a page that opens on request."""
    label = html.escape(title.split("\n")[0])
    return f'<details><summary style="font:13px system-ui,sans-serif">{label}</summary>{content}</details>'


class Findings:
    """The explanations of a cell. A fault of ours in finding them must not hide the
    rest: its traceback is the `problem`, and the error of the cell is shown without an explanation."""

    def __init__(self, scenes: Scenes, lang: str, notebook: JoinedTrace | None = None) -> None:
        self.error, self.lang = scenes.trace.error, lang
        self.explained: tuple[Explanation, ...] = ()
        self.problem = self._unexplained = ""
        try:
            if notebook is None:
                self.explained = explanations_of(scenes, lang)
            else:
                self.explained = explanations_in(scenes, notebook, lang)
        except Exception as problem:
            pass_on(problem)
            self.explained = (Explanation("", self.error),) if self.error else ()
            self.problem = "".join(traceback.format_exception(problem))
            said = " ".join(f"{type(problem).__name__}: {problem}".split())
            self._unexplained = clean(text("unexplained", lang, problem=said))

    def text(self) -> str:
        """What went wrong, why, and what to do; "" if all is well."""
        told = panel_text(self.explained, self.error, self.lang)
        return "\n\n".join(filter(None, (told, self._unexplained)))

    def html(self, message: bool = True) -> str:
        """The same for a page; without the `message` where the traceback is above."""
        told = panel_html(self.explained, self.error, self.lang, message=message)
        return told + (paragraph(self._unexplained) if self._unexplained else "")


# ─── A recorded cell with other numbers


SMALL = 12  # boxes of a picture that stands for the state table as well
UNFOLDED = 40  # boxes of a picture that is shown without boxes in boxes, so that each number has its slider


class OtherNumbers:
    """What can be computed again of a cell by its `program`; the `graph` is the one that is shown first, made
    with these `roots` and this `fold`. Where nothing can be, each part is Refused, or says why."""

    def __init__(
        self,
        scenes: Scenes,
        program: Program | None,
        graph: Graph,
        lang: str,
        *,
        roots: tuple[str, ...],
        fold: bool,
    ) -> None:
        self.trace, self.program, self.graph, self.lang = scenes.trace, program, graph, lang
        self._roots, self._fold = roots, fold

    @cached_property
    def again(self) -> Live:
        """The cell, to be computed again. Refused where that cannot be done."""
        return Live(self.trace, self.program, self.lang)

    @property
    def promising(self) -> bool:
        """Whether nothing is known that speaks against it; to run the program would say for certain."""
        loop = len(self.trace.rounds) > 1  # then it is the training that goes on
        known = self.program is not None and (loop or self.program.why_not is None)
        cards = [card for _, card in self.graph.cards()]
        cards += [card for fold in self.graph.folds for _, card in fold.parameters]
        return known and any(card.is_leaf and card.requires_grad for card in cards)

    def training(self) -> Training:
        """The loop of the cell, as one of its own each time. Refused where it cannot go on."""
        return Training(self.trace, self.program, self.lang)

    def sliders(self) -> tuple[frozenset[str], str]:
        """The leaves that a reader can change, by their ids; and, if it is refused, why there is none."""
        loop = len(self.trace.rounds) > 1
        try:
            found = frozenset(handle.id for handle in handles_in(self.again, self.graph))
            why = "" if found or not loop else text("live_trained", self.lang)
        except ReplayRefusal as refused:
            found, why = frozenset(), str(refused)
        further = [text("live_loop", self.lang)] if loop else []
        return found, " ".join([text("live_refused", self.lang, why=why), *further]) if why else ""

    def living(self, picture: Picture, frames: Sequence[Frame]) -> LivePicture | None:
        """What a reader can change in the picture that is shown first; None if there is nothing. Refused as
        in `again`."""
        found = LivePicture(
            self.again, picture, frames, partial(self._remade, isinstance(picture, StripPicture))
        )
        return found if found.handles else None

    def coach(self) -> Coach | None:
        """Who goes on with the training in a widget, or says why it cannot; None for a cell without a
        loop."""
        if len(self.trace.rounds) < 2:
            return None
        name = next((card.name or "" for _, card in self.graph.cards() if card.role == ROOT), "")
        try:
            return Coach(self.training(), name, lang=self.lang)
        except ReplayRefusal as refused:
            return Coach(None, name, text("training_refused", self.lang, why=str(refused)), self.lang)

    def _remade(
        self, as_strip: bool, trace: Trace
    ) -> tuple[Graph | Strip, Callable[[Container[int] | None], Sequence[Frame]]]:
        """What is shown first of another trace of the cell, its graph or its strip, and its steps, or `only`
        some."""
        view = views_of(Scenes(trace), roots=self._roots, fold=self._fold, lang=self.lang)[-1]
        strip = strip_of(view) if as_strip else None
        graph = view.graph if strip is None else strip.graph
        return strip or graph, lambda only: frames_of(view.scene, graph, self.lang, (), only)


# ─── What is shown of a recorded cell


HEAVIEST = 500_000  # characters of a player; what stands below it takes up to 100,000 more


class Report:
    """A recorded cell, ready to be shown. It is made of plain data: no tensor is kept alive by it.

    `roots` limits the pictures to the graphs of these variables (ValueError if the cell has none of that
    name); `fold` draws each long chain as one box. `ledger` and `memory` show or hide these sheets below the
    state table (None: show the ledger where gradients add up). With `predict` the reader is asked first, and
    nothing that is shown gives an answer away; `fade` leaves only the last so many steps of backward to the
    reader ("all": all, 0: none, and nothing is asked). With a `program` the cell can be computed again, see
    `live`; with the option `live` readers can do so in the player. `depth` says how many levels of a model
    are open below its strip at first, or is a function that is called with the path of each module
    (`blocks.7.attn`) and says whether it does; the first such module is open. Further options are those
    of `Picture`.
    `notebook` is the cell together with what it depends on, see Note [One trace of several cells].
    `explained` has the explanations of what went wrong; `problem` is the traceback if explaining failed.
    """

    @without_collection
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
        fade: int | str | None = None,
        program: Program | None = None,
        live: bool = False,
        notebook: JoinedTrace | None = None,
        depth: Depth = 1,
        **options: Any,
    ) -> None:
        self.trace, self.scenes = trace, Scenes(trace)
        self.program = program
        self._again = {
            "roots": roots,
            "fold": fold,
            "ledger": ledger,
            "memory": memory,
            "depth": depth,
            **options,
        }
        self.lang = lang = lang or language()
        self._findings = Findings(self.scenes, lang, notebook)
        self._source = trace.source if notebook is None else notebook.trace.source
        self.diagnosed, self.problem = self._findings.explained, self._findings.problem
        self.explained = tuple(each for each in self.diagnosed if each.key)  # without unknown errors
        roots, self.refused = tuple(roots), ""
        self.views = views_of(self.scenes, roots=roots, fold=fold, lang=lang, explained=self.diagnosed)
        self._numbers = OtherNumbers(self.scenes, program, self.graph, lang, roots=roots, fold=fold)
        self.predict = predict = predict if fade is None else fade != 0
        self._fade = fade
        self._live = live = live and not predict  # what moves gives answers away
        if live:
            sliders, self.refused = self._numbers.sliders()
            strips = fold and strip_of(self.views[-1]) is not None  # there the pane has the slider
            if not sliders and not self.refused and not strips:
                sliders = self._unfolded(roots)
            options = {**options, "sliders": frozenset() if strips else sliders}
        self._acts = Acts(self.views, trace.rounds, self.diagnosed, lang, options, strips=fold, depth=depth)
        self._stepper: Stepper | None = None
        self.table: Table = table_of(trace, lang)
        self._asked = ledger, memory

    def _unfolded(self, roots: tuple[str, ...]) -> frozenset[str]:
        """The leaves that a reader can change inside boxes, such as those of a model: a small
        picture is shown without boxes then; of a large one it is said why there are none."""
        views = views_of(self.scenes, roots=roots, fold=False, lang=self.lang, explained=self.diagnosed)
        numbers = OtherNumbers(self.scenes, self.program, views[-1].graph, self.lang, roots=roots, fold=False)
        sliders = numbers.sliders()[0]
        if sliders and len(views[-1].graph.stations) <= UNFOLDED:
            self.views, self._numbers = views, numbers
            return sliders
        key = "live_no_shown" if sliders else "live_no_leaf"
        self.refused = text("live_refused", self.lang, why=text(key, self.lang, most=UNFOLDED))
        return frozenset()

    @cached_property
    def questions(self) -> tuple[QuizQuestion, ...]:
        """What a reader can be asked about the cell, except an error that is already above."""
        if self._fade is not None:
            return faded_questions(self.scenes, self._fade, self.lang)
        failed = self.trace.error is not None
        return question.fair(questions_of(self.scenes, self.diagnosed, self.lang), failed)

    @cached_property
    def ledger(self) -> LedgerSheet:
        """How the `.grad` of each tensor came to be what it is."""
        return LedgerSheet(self.scenes.index, self.lang)

    @cached_property
    def memory(self) -> MemorySheet:
        """What the graph kept for backward, in bytes."""
        return memory_sheet(self.scenes, self.lang)

    def _sheets(self) -> list[Sheet]:
        """The sheets below the state table that were asked for; the ledger also where it is informative."""
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
    def living(self) -> LivePicture | None:
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
        from ..player.widget import LiveStepper, QuizStepper, stepper_of

        if self._stepper is None or self._stepper.comm is None:
            acts, earlier, later = self._played()
            told = acts, self.trace.source, self.lang, earlier, later
            if quiz := self._quiz(acts):
                self._stepper = QuizStepper(*told, quiz=quiz, instead=self.text(why=False))
                return self._stepper
            coach = self._numbers.coach() if self._live else None
            parts: dict[str, Any] = {"learning": self._learning(acts), "offers": self._offers()}
            if self.living is None and coach is None:
                self._stepper = stepper_of(*told, **parts)
            else:
                self._stepper = LiveStepper(*told, living=self.living, coach=coach, **parts)
        return self._stepper

    def _played(self, most: int | None = None) -> tuple[tuple[Act, ...], Sequence[Any], Sequence[Any]]:
        """The acts of the player, at `most` so many, and the values of the calls before and after them. The
        states of live values go by the steps of the whole act."""
        acts, earlier, later = self._acts.played(most)
        return (acts if self.living is not None else with_data_once(acts, self.lang)), earlier, later

    def head(self) -> list[str]:
        """What precedes a single picture: that the cell failed, and which of several calls is shown."""
        said = [text("graph_until_error", self.lang)] if self.trace.error else []
        return said + ([clean(self.views[-1].label)] if len(self.views) > 1 else [])

    def explanation(self) -> str:
        """What went wrong, why, and what to do; "" if all is well."""
        return self._findings.text()

    def explanation_html(self, message: bool = True) -> str:
        """The same for a page; without the `message` where the traceback is above."""
        return self._findings.html(message)

    @without_collection
    def text(self, steps: bool = False, *, graph: bool = True, table: bool = True, why: bool = True) -> str:
        """Outline, what went wrong (unless `why` is False), and state table in words, and on request the
        numbered steps with their arithmetic."""
        said = self.explanation() if why else ""
        if not self.graph.stations:
            return "\n\n".join(filter(None, (text("no_tensors", self.lang), said)))
        if self.predict:
            known = said if self.trace.error else ""
            return "\n\n".join(filter(None, (question.questions_text(self.questions, self.lang), known)))
        parts = ["\n".join([*self.head(), self.picture.outline()])] if graph else []
        if said:
            parts.append(said)
        if table and self.table.rows:
            parts.append(table_text(self.table, self.lang))
        parts += [sheet.text() for sheet in self._sheets()]
        if steps:
            parts.append(str(self.steps))
        return "\n\n".join(parts)

    @without_collection
    def html(
        self,
        show: str = "player",
        *,
        table: bool | None = None,
        pane: bool = False,
        message: bool = True,
        why: bool = True,
    ) -> str:
        """Why the cell failed, its graph, further notes, and the state table, for a page. The table
        (None: whichever fits) is closed where a small picture tells all that it does. `show`
        says how the graph is shown: as a "player", as a "static" picture, or not at all ("none"). A picture
        that Graphviz itself draws has no parts that a player could mark: it is always static. With `pane`,
        the player's source is open: where no cell is above it. `message` as in `explanation_html`; `why`
        is False if the reason is shown elsewhere."""
        said = self.explanation_html(message) if why else ""
        if not self.graph.stations:
            return f"<p>{html.escape(text('no_tensors', self.lang))}</p>{said}"
        if show == "player" and self.picture.style != "house":
            show = "static"
        if self.predict:
            asked = self._player(pane) if show == "player" else terminal_html(self.text(why=False))
            return said + asked if self.trace.error else asked
        shown = self._player(pane) if show == "player" else ""
        if show == "static":
            shown = "".join(map(paragraph, self.head())) + self.picture.html()
        parts = [table_html(self.table, self.lang)] if table is not False and self.table.rows else []
        if parts and table is None and show == "player" and self._is_told():
            parts = [closed_section(text("table_caption", self.lang), parts[0])]
        model = any(fold.parameters for fold in self.graph.folds)
        for sheet in self._sheets():
            told = sheet.html(style=not parts)
            # Of a model the ledger is long, and most of it says the same.
            parts.append(closed_section(sheet.title, told) if model and sheet is self.ledger else told)
        return "".join([said, shown, *parts] if self.trace.error else [shown, said, *parts])

    def _is_told(self) -> bool:
        """Whether a small picture of a single call tells all that the state table does."""
        shown = {card.name for _, card in self.graph.cards()}
        few = len(self.table.heads) <= 2 and len(self.graph.stations) <= SMALL and not self.graph.folds
        return few and not self.trace.error and all(name in shown for name, _, _ in self.table.rows)

    def _player(self, pane: bool) -> str:
        error = self.head()[:1] if self.trace.error else []
        acts, earlier, later = self._played()
        player = self._player_of(acts, earlier, later, pane)
        while len(player) > HEAVIEST and len(acts) > 1:
            acts, earlier, later = self._played(len(acts) // 2)
            player = self._player_of(acts, earlier, later, pane)
        return "".join(map(paragraph, [*error, *filter(None, [self.refused])])) + player

    def _player_of(
        self, acts: Sequence[Act], earlier: Sequence[Any], later: Sequence[Any], pane: bool
    ) -> str:
        """The player of some acts, with other backward calls before and after them."""
        quiz = self._quiz(acts)
        asked = self.text(why=False) if quiz else ""
        live = None if self.living is None else self.living.score()
        told = self.trace.source, self.lang, earlier, later
        parts: dict[str, Any] = {"live": live, "learning": self._learning(acts), "offers": self._offers(pane)}
        return player_html(acts, *told, pane=pane, quiz=quiz, instead=asked, **parts)

    def _offers(self, page: bool = False) -> dict[str, Any] | None:
        """What else a reader can do with a cell that is played as it is: predict what has a backward call,
        and move what can be computed again."""
        if self.predict or self._live or self.trace.error:
            return None
        predicts = any(view.scene.now.started is not None for view in self.views)
        loop = len(self.trace.rounds) > 1  # whose training only a kernel can go on with
        flags = [PREDICT] * predicts + [LIVE] * (self._numbers.promising and not (loop and page))
        return offers_of(flags, self.trace.source, loop, page, self.lang)

    def _quiz(self, acts: Sequence[Act]) -> str:
        """The questions that these acts ask, the last of the cell; "" if there are none, or nobody is to be
        asked."""
        calls = [view.call for view in self.views[-len(acts) :]]
        return quiz_of(self.questions, acts, calls, self.lang) if self.predict else ""

    def _learning(self, acts: Sequence[Act]) -> dict[str, Any] | None:
        """What the model of a loop computes in these acts, the last of the cell."""
        if self.trace.error or self.predict:
            return None
        calls = [view.call for view in self.views[-len(acts) :]]
        return learning_of(self.trace, calls, self.lang, self._source)

    def page(self, show: str = "player", *, table: bool | None = None) -> str:
        """A whole HTML page, which needs nothing else."""
        names = [card.name for _, card in self.graph.cards() if card.role == ROOT and card.name]
        title = text("picture_title", self.lang, names=", ".join(names))
        return whole_page(title, self.html(show, table=table, pane=True), self.lang)

    def save(
        self,
        path: str | Path,
        *,
        show: str = "player",
        table: bool | None = None,
        embed_fonts: bool = False,
        step: int | None = None,
        size: str = "slide",
        theme: str = "light",
        motion: bool = False,
    ) -> Path:
        """Write a page (.html), the picture (.svg, .png, .pdf, .dot, .mmd), all in words (.txt), the trace
        (.json), or a film of the steps (.gif, .webp, .mp4). `show` and `table` are those of `page`,
        `embed_fonts` that of `Picture.save`. With `step`, counted from 1, an .svg, .png, .pdf or .tex (TikZ)
        shows the picture as it is at that step. A film has the `size` "slide" (1280 × 720) or "chat"
        (640 × 480), the `theme` "light" or "dark", and with `motion` its steps pass over into each other.
        ValueError for other endings; images and films need the extra "export", or a native Graphviz for .png
        and .pdf, and .mp4 the program ffmpeg (RuntimeError)."""
        path = Path(path)
        texts = {
            ".html": lambda: self.page(show, table=table),
            ".txt": lambda: self.text(steps=True, graph=show != "none", table=table is not False) + "\n",
            ".json": lambda: self.trace.to_json() + "\n",
        }
        kind = path.suffix.lower()
        if kind not in ENDINGS and (kind != ".tex" or step is None):
            raise ValueError(f"cannot write {path.suffix!r}: use one of {', '.join(ENDINGS)}")
        if step is not None:
            save_still(path, self.picture, self.frames, step)
        elif kind in texts:
            path.write_text(texts[kind](), encoding="utf-8")
        elif kind in FILMS:
            save_film(path, self._step_pages(size, theme), motion)
        else:
            self.picture.save(path, embed_fonts=embed_fonts)
        return path

    def slides(self, path: str | Path, *, size: str = "slide", theme: str = "light") -> Path:
        """Write a slide for each step: into a notebook (.ipynb), behind the cell with its player, for
        `jupyter nbconvert --to slides`; as the pages of a .pdf; as TikZ in a .tex document; or as .svg files
        into a folder, if `path` has no ending. `size` and `theme` are those of `save`. ValueError for another
        ending; a .pdf needs the extra "export" (RuntimeError)."""
        path = Path(path)
        player = self._repr_mimebundle_() if path.suffix == ".ipynb" else {}
        save_slides(path, self._step_pages(size, theme), self.trace.source, player)
        return path

    def worksheet(self, path: str | Path, *, seed: int | None = None) -> Path:
        """Write a worksheet: the picture with blanks for its gradients, and a key, as two pages of a .pdf or
        as an .ipynb. With a `seed` the leaves have other numbers, the same for the same seed; refused, a
        ValueError, where the cell cannot be computed again (`live` says when). ValueError for another ending
        or without gradients; a .pdf needs the extra "export" (RuntimeError)."""
        path = Path(path)
        report, source = self._without_sliders(), self.trace.source
        if seed is not None:
            numbers, source = another_cell(self.again, seed)
            report = self.live(numbers)
        Worksheet(report.picture, report.frames, source, self.lang).save(path)
        return path

    def _step_pages(self, size: str, theme: str) -> StepPages:
        report = self._without_sliders()
        return StepPages(report.picture, report.frames, self.trace.source, self.lang, size, theme)

    def _without_sliders(self) -> Report:
        """The report for paper, where nothing can be moved."""
        return Report(self.trace, lang=self.lang, **self._again) if self._live else self

    def bundle(self, told: str, page: str) -> dict[str, Any]:
        """What a notebook stores: a text, a page and, if it is short and nobody is asked, the trace."""
        known = trace_bundle(self.trace) if self.graph.stations and not self.predict else {}
        return {"text/plain": told, "text/html": page, **known}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        page = self.html()  # first, for the text tells what hindered it
        return self.bundle(self.text(), page)

    def __repr__(self) -> str:
        return self.text()
