"""`why_none(x)`: why is `x.grad` None?"""

from __future__ import annotations

import ast
import html
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..explaining.why_none import Answer, Facts, from_graph, from_scenes, in_general, of_itself, said
from ..protocol import dtype_name, edges_of, has_history, history_of, is_tensor, value_of, variable_of
from ..silence import silence
from ..trace.statements import expression
from ..trace.where import Locator
from ..words import language, text, wrapped
from .last import known_to_last

WIDTH = 80  # columns of a line of text
LARGEST = 1_000_000  # nodes of graphs that are searched


class Why:
    """One sentence, as text, in lines of a terminal's width, and on a page; `key` says which of the known
    reasons it gives."""

    def __init__(self, key: str, sentence: str, lang: str) -> None:
        self.key = key
        self.sentence = sentence
        self.lang = lang

    def __repr__(self) -> str:
        return wrapped(self.sentence, WIDTH)

    def _repr_html_(self) -> str:
        return f'<p lang="{self.lang}">{html.escape(self.sentence)}</p>'


def why_none(x: Any, lang: str | None = None) -> Why:
    """Why `x.grad` is None, in one sentence: from what the last cell under `%%autograd` did, where `x` was
    part of it, else from the graph.

    What is not certain is left out. TypeError for what is no tensor; ValueError for an unknown language.
    """
    if not is_tensor(x):
        raise TypeError(f"why_none() asks about a tensor, not {type(x).__name__}")
    lang = lang or language()
    frame = sys._getframe(1)
    facts = facts_of(x, argument(frame) or name_of(x, frame) or text("kind_tensor", lang))
    answer, known = of_itself(facts, lang), known_to_last(x)
    if answer is None and facts.requires_grad and not has_history(x):
        answer = said("why_unknown", lang, name=facts.name)
    if answer is None and known is not None:
        answer = from_scenes(*known, facts, lang)
    answer = answer or in_general(facts, lang) or live(x, facts, frame, lang)
    return Why(answer.key, answer.sentence, lang)


def facts_of(x: Any, name: str) -> Facts:
    """What a tensor tells of itself; nobody is warned."""
    with silence():
        grad = x.grad if has_history(x) else None
    requires, history = bool(x.requires_grad), history_of(x)
    value = None if grad is None else value_of(grad)
    return Facts(name, dtype_name(x), requires, history is None, bool(x.retains_grad), value)


def argument(frame: FrameType) -> str | None:
    """What the code in `frame` asks about, if that is a name or an attribute and its source is known."""
    spot = Locator("", frame.f_globals).at(frame)
    call = None if spot is None else expression(spot.span.text)
    if not isinstance(call, ast.Call) or ast.unparse(call.func).rpartition(".")[2] != "why_none":
        return None
    given = call.args[0] if call.args else None
    return ast.unparse(given) if isinstance(given, ast.Name | ast.Attribute) else None


def variables(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """The variables that code in `frame` sees, its own first."""
    seen: set[str] = set()
    for names in (frame.f_locals, frame.f_globals):
        for name, value in list(names.items()):
            if name not in seen and not name.startswith("_"):
                seen.add(name)
                yield name, value


def name_of(x: Any, frame: FrameType) -> str | None:
    """The variable that a tensor is."""
    return next((name for name, value in variables(frame) if value is x), None)


def live(x: Any, facts: Facts, frame: FrameType, lang: str) -> Answer:
    """The answer of the graph: which variables lead to the tensor."""
    roots = [(name, t) for name, t in variables(frame) if is_tensor(t) and t is not x]
    found, room = [], LARGEST
    for name, root in roots:
        reaches, visited = leads_to(history_of(root), x, room)
        room -= visited
        if reaches is None:
            return said("why_unknown", lang, name=facts.name)
        if reaches:
            found.append(name)
    return from_graph(facts, found, lang)


def leads_to(node: Any, x: Any, limit: int) -> tuple[bool | None, int]:
    """Whether the gradient of `x` is computed from `node` on, and how many nodes were looked at; None if they
    are too many."""
    goal = history_of(x)
    seen, todo = {node}, [] if node is None else [node]
    for at in todo:  # grows while it is read
        if (variable_of(at) is x) if goal is None else (at == goal):
            return True, len(todo)
        new = [n for n, _ in edges_of(at) if n is not None and n not in seen]
        seen.update(new)
        todo += new
        if len(todo) > limit:
            return None, len(todo)
    return False, len(todo)
