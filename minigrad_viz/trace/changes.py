"""What a cell writes outside the graph, as the picture's model has it."""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol import Value
from .where import Span


@dataclass(frozen=True, slots=True)
class Change:
    """One line of an update: what `tensor`, called `name`, was, the gradient that it had, and what it became;
    a value is None where it is not known or where the gradient is None. In a "zero" and a "clip" that is the
    gradient itself, which has no gradient. `settings` are those of the optimizer for it (`lr`), or the
    numbers that a hand-written update names; `state` the optimizer's own tensors before and after."""

    id: str
    tensor: str
    name: str
    before: Value | None
    gradient: Value | None
    after: Value | None
    settings: tuple[tuple[str, float], ...] = ()
    state: tuple[tuple[str, Value | None, Value | None], ...] = ()


@dataclass(slots=True)
class Update:
    """Writes outside the graph that belong together: a step of an optimizer, `zero_grad`, clipping, or a
    hand-written update. `kind` is "step", "zero", "clip" or "written"; `title` is the call or the statement
    as it stands in the source (`opt.step()`), `about` the class of the optimizer ("" without one); `span` is
    where it stands. `times` are the places of its events in the trace, in order; `of_gradients`: they change
    `.grad`, and not the tensors. It belongs to the backward `call`, and was `early` if it ran before that. In
    a picture it has an `id`, and what it changes has names."""

    kind: str
    title: str
    about: str
    span: Span | None
    times: list[int]
    changes: list[Change]
    call: int = 0
    early: bool = False
    of_gradients: bool = False
    id: str = ""
