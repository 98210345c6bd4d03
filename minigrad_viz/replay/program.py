"""What a cell computed, as a program that can run again: plain data, which keeps no tensor alive; optimizers
of a replay.

Note [Programs]
    A program has the tensors that came into the cell (`InputTensor`) with their numbers, and the calls of
    library functions in their order (`Instruction`), with tensors by number and all other arguments as
    they were. To run it is to make new tensors and to call the same functions: no code of the user's
    runs. It is made from the notes of a recording when it is needed (see `derivation`). A cell that cannot be
    computed again in this way has no program but a reason for that, which is a key of the catalogue. What is
    overlooked here is found later: a program counts only if it gives the numbers of the cell (see `live`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..protocol import is_tensor
from ..recording.round_states import OptimizerState, RoundState
from ..trace.calls import InputTensor, Ref, rebuild_tuple

# ─── What a cell computed, as a program that can run again


GRAD = operator.attrgetter("grad")  # reads the gradient of a tensor


class Instruction(NamedTuple):
    """One call: `run(*args, **options)`, whose `results` are tensors by number, one by one (None: one that
    nobody knows). `grad_mode` says whether the grad mode was on. A step of the kind "make" makes the tensor
    `made`; one of the kind "ask" asks whether something holds, and the cell went on with `answer` at line
    `line`; before one of the kind "draw" random numbers are in the state `answer`; a "names" step says which
    variables were which tensors, an "optimizer" step that an optimizer took one. What draws new numbers in a
    further round is `fresh`, with its arguments; `backward` is the root of a backward call."""

    kind: str
    run: Callable[..., Any] | None = None
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = {}
    results: Any = None
    grad_mode: bool = True
    made: InputTensor | None = None
    answer: Any = None
    line: int = 0
    fresh: tuple[Callable[..., Any], tuple[Any, ...]] | None = None
    backward: Ref | None = None


class Rounds(NamedTuple):
    """The rounds of a loop: the steps of the newest two (`segments`) and those since then (`current`), the
    newest states, and how many there were."""

    segments: Sequence[list[Instruction]] = ()
    current: Sequence[Instruction] = ()
    states: Sequence[RoundState] = ()
    total: int = 0
    why_not: tuple[str, Mapping[str, Any]] | None = None


class Content(NamedTuple):
    """What a program consists of, see `Program`."""

    library: str
    given: Mapping[int, InputTensor]
    steps: tuple[Instruction, ...]
    names: Mapping[str, int]
    leaves: Mapping[int, str]
    why_not: tuple[str, Mapping[str, Any]] | None = None
    rounds: Rounds | None = None


class Program:
    """A whole cell, computed by `library`. `names` has the variables at the end, `leaves` the ids in the
    cell's trace of those tensors whose gradients can be computed; `why_not` says with a key of the catalogue,
    and the values for it, why the cell cannot be computed again. `rounds` are those of a loop, if they were
    asked for. All of it is `read` when somebody asks for something."""

    def __init__(self, read: Callable[[], Content]) -> None:
        self._read = read

    @cached_property
    def content(self) -> Content:
        """What it consists of."""
        return self._read()

    library = property(lambda self: self.content.library)
    given = property(lambda self: self.content.given)
    steps = property(lambda self: self.content.steps)
    names = property(lambda self: self.content.names)
    leaves = property(lambda self: self.content.leaves)
    why_not = property(lambda self: self.content.why_not)
    rounds = property(lambda self: self.content.rounds)


def fill_template(template: Any, tensors: Mapping[int, Any]) -> Any:
    """The argument of a template."""
    kind = type(template)
    if kind is Ref:
        return tensors[template.number]
    if kind in (list, tuple):
        return kind(fill_template(item, tensors) for item in template)
    if kind is dict:
        return {key: fill_template(item, tensors) for key, item in template.items()}
    if kind is slice:
        return slice(
            *(fill_template(part, tensors) for part in (template.start, template.stop, template.step))
        )
    if isinstance(template, tuple) and any(type(item) is Ref for item in template):
        return rebuild_tuple(kind, [fill_template(item, tensors) for item in template])
    return template


def bind(template: Any, result: Any, tensors: dict[int, Any]) -> None:
    """Give the tensors of a result, one by one, the numbers that they have in the program."""
    if type(template) is Ref:
        tensors[template.number] = result
        return
    found = flat_results(result)
    if len(found) != len(template):
        found = [each for each in found if is_tensor(each)]
    for part, item in zip(template, found, strict=True):
        if part is not None:
            tensors[part.number] = item


def flat_results(value: Any) -> list[Any]:
    """A result, or those in lists and tuples, one by one."""
    if isinstance(value, list | tuple):
        return [item for part in value for item in flat_results(part)]
    return [value]


# ─── Optimizers of a replay


def array(tensor: Any) -> Any:
    """A copy of a tensor's numbers."""
    return np.array(tensor.detach().numpy())


def build_optimizer(one: OptimizerState, tensors: Mapping[int, Any], module: Any) -> Any:
    """An optimizer in a state, on new tensors."""
    groups = [{**group, "params": [tensors[n] for n in group["params"]]} for group in one.groups]
    optimizer = one.kind(groups, lr=one.groups[0]["lr"])
    for number, own in one.state.items():
        optimizer.state[tensors[number]] = {
            name: module.tensor(value) if isinstance(value, np.ndarray | np.generic) else value
            for name, value in own.items()
        }
    return optimizer


def optimizer_state(one: OptimizerState, optimizer: Any, tensors: Mapping[int, Any]) -> OptimizerState:
    """The state in which it is now."""
    numbers = {id(tensors[n]): n for group in one.groups for n in group["params"]}
    state = {
        numbers[id(param)]: {name: array(v) if hasattr(v, "detach") else v for name, v in own.items()}
        for param, own in optimizer.state.items()
    }
    return one._replace(state=state)


def with_rate(one: OptimizerState, rate: float | None) -> OptimizerState:
    """An optimizer with another learning rate in all groups."""
    if rate is None or all(group["lr"] == rate for group in one.groups):
        return one
    return one._replace(groups=tuple({**group, "lr": rate} for group in one.groups))
