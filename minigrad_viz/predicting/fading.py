"""Faded examples: a backward call whose last steps are left to the reader.

The same graph is shown complete first, then with its last step missing, then with two, then with all, so that
readers do what they have read. A step is one node: what it receives where gradients meet, what it passes on,
or what it adds to a `.grad`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..flow.backward_pass import Arrow, Flow, flow_of
from ..flow.engine import BackwardEngine
from ..model.scene import Scene
from ..number_text import one_line
from ..protocol import Value
from ..snapshots import array_of
from ..trace.events import NodeRan
from .faulty_engines import FAULTS, Teller, gradient_answer
from .gradient_questions import SMALL, answer_size, can_answer, gradient, time_of
from .question import GRAD, MEETS, PASSES, STORES, QuizQuestion, Said, Wrong, equal, wrong

ALL = "all"  # steps


def last_questions(scene: Scene, steps: int | str, lang: str | None = None) -> Iterator[QuizQuestion]:
    """The questions about the last `steps` nodes of a backward call, in the order in which they run; of all
    nodes for ALL. Gradients with more numbers than somebody types are not asked."""
    walk = flow_of(scene)
    if not can_answer(walk):
        return
    for node in walk.order if steps == ALL else walk.order[max(0, len(walk.order) - int(steps)) :]:
        event = scene.now.ran.get(node)
        if event is None:
            continue
        if walk.nodes[node].variable is not None:
            yield from deposit_questions(walk, node, lang)
        elif len(event.received) == 1 and event.received[0] is not None:
            yield from sum_questions(walk, event, event.received[0])
            yield from pass_questions(walk, event, event.received[0])


def asked_number(value: Value | None) -> Any:
    """A gradient that somebody can type; None for any other."""
    known = None if value is None else gradient_answer(array_of(value))
    return known if known is not None and answer_size(known) <= SMALL else None


def deposit_questions(walk: Flow, node: str, lang: str | None) -> Iterator[QuizQuestion]:
    """What is in the `.grad` of a leaf after its node ran."""
    leaf = walk.nodes[node].variable or ""
    asked = gradient(walk, leaf, lang, SMALL)
    if asked is not None:
        time = time_of(walk.scene, walk.scene.now.ran[node])
        yield asked._replace(kind=STORES, answers=GRAD, time=time, node=node)


def sum_questions(walk: Flow, event: NodeRan, received: Value) -> Iterator[QuizQuestion]:
    """The sum of the gradients that meet at a node."""
    shares = [share for _, _, share in walk.met.get((event.node, 0), ())]
    truth = asked_number(received)
    if len(shares) < 2 or truth is None or walk.scene.now.hooks.get(event.node):
        return
    tell = Teller(walk)
    said: dict[str, Any] = {"node": tell.name(event.node), "at": tell.made_by(event.node)}
    said |= {"values": ", ".join(map(one_line, shares)), "n": len(shares)}
    sum_text = " + ".join(map(one_line, shares))
    solution: Said = "quiz_solution", {"formula": f"{sum_text} = {one_line(received)}"}
    asked = QuizQuestion(
        MEETS, f"{said['at']}.received", truth, ("quiz_ask_meets", said), solution, walk.call,
        time_of(walk.scene, event), ("quiz_hint_meets", said), walk.scene.tensor_of((event.node, 0)) or "",
        event.node,
    )  # fmt: skip
    alone = (wrong("quiz_meets_one", gradient_answer(array_of(share)), **said) for share in shares)
    yield asked._replace(wrong=tuple(w for w in alone if not equal(w.answer, truth)), answers=GRAD)


def pass_questions(walk: Flow, event: NodeRan, received: Value) -> Iterator[QuizQuestion]:
    """What a node passes to each of the tensors before it."""
    tell, node = Teller(walk), event.node
    for i, (edge, sent) in enumerate(zip(walk.nodes[node].edges, event.sent, strict=False)):
        truth = asked_number(sent)
        tensor = None if edge is None else walk.scene.tensor_of(edge)
        if truth is None or edge is None or tensor is None or sent is None:
            continue
        said = {"node": tell.name(node), "at": tell.made_by(node), "to": tell.input((node, i))}
        said |= {"value": one_line(received), "sent": one_line(sent)}
        others = (w for w in mistakes_at(walk, (node, i), received, sent) if not equal(w.answer, truth))
        yield QuizQuestion(
            PASSES, f"{said['node']}({said['at']})→{said['to']}", truth, ("quiz_ask_passes", said),
            ("quiz_solution_passed", said), walk.call, time_of(walk.scene, event), ("quiz_hint_passes", said),
            tensor, node, tuple(others), answers=GRAD,
        )  # fmt: skip


def mistakes_at(walk: Flow, arrow: Arrow, received: Value, sent: Value) -> Iterator[Wrong]:
    """What a node passes over an arrow if each of the misconceptions about a node goes wrong there."""
    edge, given, right = walk.nodes[arrow[0]].edges[arrow[1]], array_of(received), array_of(sent)
    if edge is None or given is None or right is None:
        return
    for fault in FAULTS:
        if "sent" not in fault.steps or arrow not in fault.places(walk, edge[0]):
            continue
        engine = BackwardEngine(walk, fault.steps, arrow)
        answer = gradient_answer(fault.steps["sent"](engine, lambda *_: np.asarray(right), *arrow, given))
        if answer is not None:
            yield Wrong(fault.key, answer, fault.hint(engine, Teller(walk), edge[0]))
