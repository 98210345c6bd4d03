"""Explanations of a cell that involve earlier cells and the user's files."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..model.scene import Scenes
from ..trace.events import BackwardStarted, OptimizerStepped, of_kinds
from ..trace.graph import Explanation
from ..trace.joining import JoinedTrace
from ..trace.source_positions import Span
from ..words import text
from .case import name_list
from .diagnosis import diagnoses, with_trials

LINE = {"en": re.compile(r"\b(In )?line (\d+)"), "ko": re.compile(r"()(\d+)행")}  # how sentences name a line
OWN_NOTES = ("no_backward", "no_step", "not_called")  # that say that something is missing in this very cell

# What an earlier line led to. What to do depends on that line, or is right whichever it is.
LED_BY_A_LINE = ("no_grad_fn", "saved_modified", "non_leaf_grad", "optimizer_of_non_leaf")
LED_BY_ANY = ("second_backward", "freed_read", "kept_gradient", "unused_input")

# Notes about an optimizer that took a step in the cell, wherever that was created.
OF_TRAINING = (
    "stale_optimizer", "other_parameters", "unregistered", "step_too_early", "reset_too_early",
    "out_of_reach", "eval_left_on", "layer_made_anew",
)  # fmt: skip


def explanations_in(alone: Scenes, notebook: JoinedTrace, lang: str) -> tuple[Explanation, ...]:
    """What is explained of the last chapter of a notebook, whose own scenes are `alone`. Marks are in its
    own picture."""
    own = diagnoses(alone, lang)
    scenes = Scenes(notebook.trace, notebook.begin)
    cells = [chapter.line for chapter in notebook.chapters]
    here = (each for each in diagnoses(scenes, lang) if belongs(each, notebook, scenes))
    found = with_trials(here, notebook.trace, lang, cells)
    errors = [each for each in found if each.error]
    mine = [each for each in own if each.error]
    told = [
        with_marks(other, each, notebook, lang)
        if other.key and other.error == each.error
        else with_trials([each._replace(call=0)], alone.trace, lang)[0]
        for each, other in zip(mine, errors[len(errors) - len(mine) :], strict=False)
    ]
    kept = [each for each in own if not each.error and each.key in OWN_NOTES]
    if not any(each.key == "first_nan" for each in found):  # numbers that came with an earlier cell
        kept += [each for each in own if each.key == "first_nan"]
    notes = [each for each in found if not each.error and each.key not in OWN_NOTES]
    by_key = {each.key: each for each in own if not each.error}
    shown = [with_marks(each, by_key.get(each.key), notebook, lang) for each in notes]
    every = (*with_trials(kept, alone.trace, lang), *shown, *(told or with_trials(mine, alone.trace, lang)))
    return tuple(with_unseen(each, notebook, lang) for each in every)


def with_unseen(each: Explanation, notebook: JoinedTrace, lang: str) -> Explanation:
    """An explanation that says which cells may hold the line that led to it, if there is no recording of
    them. What it says to do without knowing that line is not shown where it may be something else."""
    if not notebook.unseen or each.cause is not None or each.key not in (*LED_BY_A_LINE, *LED_BY_ANY):
        return each
    cells = name_list(label for label, _ in notebook.unseen)
    names = name_list(sorted(frozenset().union(*(shared for _, shared in notebook.unseen))))
    why = text("unseen_cells", lang, cells=cells, names=names)
    fix = text("unseen_cells_fix", lang, cells=cells)
    known = each.fix if each.key in LED_BY_ANY else ""
    return each._replace(why=f"{each.why} {why}".strip(), fix=f"{known} {fix}".strip())


def belongs(each: Explanation, notebook: JoinedTrace, scenes: Scenes) -> bool:
    """Whether something is explained of the last chapter: its error, a backward call there, a place there, or
    an optimizer that took a step there. What says when it was certain belongs to the chapter of that."""
    if each.error:
        return True
    if each.time:
        return each.time >= notebook.begin
    if each.call:
        return each.call >= notebook.call
    led_here = (
        each.cause is None or each.key == "scores_twice"
    )  # of others the span is the last backward call
    if each.key == "learning_target":  # wherever that was created
        return any(isinstance(event, BackwardStarted) for event in notebook.trace.events[notebook.begin :])
    places = (each.span, each.cause) if led_here else (each.cause,)
    if each.key not in OF_TRAINING:
        return any(is_of_last(place, notebook) for place in places)
    here = any(is_of_last(place, notebook) for place in places)
    return here or bool(of_kinds(notebook.trace.events[notebook.begin :], OptimizerStepped))


def is_of_last(place: Span | None, notebook: JoinedTrace) -> bool:
    """Whether a place is in the last chapter, or in code of a file or an earlier cell that it ran."""
    if place is None or place.origin:
        return False
    events = notebook.trace.events[notebook.begin :]
    return place.line > notebook.chapters[-1].line or any(e.span == place for e in events)


def with_marks(each: Explanation, own: Explanation | None, notebook: JoinedTrace, lang: str) -> Explanation:
    """An explanation with the places of the last chapter, and with the marks and the call that the cell's own
    picture has for it."""
    name = naming(notebook, lang)
    why, fix = (LINE.get(lang, LINE["en"]).sub(name, part) for part in (each.why, each.fix))
    same = own is not None and own.key == each.key
    marks = own.marks if own is not None and same else ()
    call = own.call if own is not None else max(0, each.call - notebook.call + 1)
    span, cause = notebook.local(each.span), notebook.local(each.cause)
    return each._replace(why=why, fix=fix, marks=marks, call=call, span=span, cause=cause)


def naming(notebook: JoinedTrace, lang: str) -> Callable[[re.Match[str]], str]:
    """How a line of the joined text is named: `line 3`, `In [2], line 3`, `model.py:3`."""

    def name(found: re.Match[str]) -> str:
        chapter, start = notebook.chapter_at(int(found[2])), found[1] or ""
        label, line = chapter.cell.label, int(found[2]) - chapter.line
        if chapter is notebook.chapters[-1]:
            return start + text("line_here", lang, line=line)
        if label.startswith("In ["):  # which begins a sentence as it is
            return text("line_in_cell", lang, label=label, line=line)
        return start + text("line_in_file", lang, label=label, line=line)

    return name
