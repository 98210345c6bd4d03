"""What a cell computed, as a program that can run again: plain data, which keeps no tensor alive; rounds
and optimizers of its loop.

Note [Programs]
    A program has the tensors that came into the cell (`InputTensor`) with their numbers, and the calls of
    library functions in their order (`Instruction`), with tensors by number and all other arguments as
    they were. To run it is to make new tensors and to call the same functions: no code of the user's
    runs. A cell that cannot be computed again in this way has no program but a reason for that, which is
    a key of the catalogue. What is overlooked here is found later: a program counts only if it gives the
    numbers of the cell (see `live`).

Note [Rounds]
    A round ends when its backward call has ended. What follows (the update, gradients that are reset) is the
    beginning of the next round, so a round is what ran between the ends of two backward calls, whatever the
    order in the body of the loop. The state after a round is what a further round needs: the tensors that
    were there before it, with their gradients, the optimizers, and the state of random numbers.
"""

from __future__ import annotations

import operator
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np

from ..protocol import is_tensor

# ─── What a cell computed, as a program that can run again


GRAD = operator.attrgetter("grad")  # reads the gradient of a tensor
MOST = 300  # steps of a program
ROOM = 1_000_000  # bytes of all arrays that a program keeps


class Ref(NamedTuple):
    """A tensor of the program, by its number."""

    number: int


class InputTensor(NamedTuple):
    """A tensor that was there before it was used: its numbers, what it is, and the gradient that it had."""

    data: Any
    learns: bool = False
    parameter: bool = False
    grad: Any = None


class Instruction(NamedTuple):
    """One call: `run(*args, **options)`, whose `results` are tensors by number, in lists and tuples as they
    came. `grad_mode` says whether the grad mode was on. A step of the kind "make" makes the tensor `made`;
    one of the kind "ask" asks whether something holds, and the cell went on with `answer` at line `line`;
    before one of the kind "draw" random numbers are in the state `answer`; a "names" step says which
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


class Program(NamedTuple):
    """A whole cell, computed by `library`. `names` has the variables at the end, `leaves` the ids in the
    cell's trace of those tensors whose gradients can be computed; `why_not` says with a key of the catalogue,
    and the values for it, why the cell cannot be computed again."""

    library: str
    given: Mapping[int, InputTensor]
    steps: tuple[Instruction, ...]
    names: Mapping[str, int]
    leaves: Mapping[int, str]
    why_not: tuple[str, Mapping[str, Any]] | None = None
    rounds: Any = None  # those of a loop, where they were taken down as well (see `RoundHistory`)


class Unreplayable(Exception):
    """A value that no program can keep. `why` is a key of the catalogue, with its values."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.why = key, values


PLAIN = (int, float, complex, bool, str, bytes, type(None), EllipsisType, np.generic)
WORDS = ("dtype", "device", "layout", "memory_format", "Size")  # what libraries have besides tensors


def template_of(value: Any, number: Callable[[Any], Ref], is_tensor: Callable[[Any], bool]) -> Any:
    """An argument as plain data, with tensors by number. Unreplayable for what is neither."""
    if is_tensor(value):
        return number(value)
    kind = type(value)
    if kind in (list, tuple):
        return kind(template_of(item, number, is_tensor) for item in value)
    if kind is dict:
        return {key: template_of(item, number, is_tensor) for key, item in value.items()}
    if kind is slice:
        parts = (template_of(part, number, is_tensor) for part in (value.start, value.stop, value.step))
        return slice(*parts)
    if isinstance(value, PLAIN) or kind.__name__ in WORDS:
        return value
    if isinstance(value, tuple):  # one with names, or the indices of minigrad
        return rebuild_tuple(kind, [template_of(item, number, is_tensor) for item in value])
    if isinstance(value, np.ndarray):
        return value.copy()
    raise Unreplayable("live_no_argument", kind=kind.__name__)


def flat_values(value: Any) -> list[Any]:
    """A value, or those in lists, tuples and dictionaries, one by one."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, list | tuple) and type(value) is not Ref:
        return [item for part in value for item in flat_values(part)]
    return [value]


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


def rebuild_tuple(kind: type, items: list[Any]) -> Any:
    """A tuple of a class of its own."""
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def bind(template: Any, result: Any, tensors: dict[int, Any]) -> None:
    """Give the tensors of a result the numbers that they have in the program."""
    if type(template) is Ref:
        tensors[template.number] = result
    elif isinstance(template, list | tuple):
        for part, item in zip(template, result, strict=True):
            bind(part, item, tensors)
    elif isinstance(template, dict):
        for key, part in template.items():
            bind(part, result[key], tensors)


# ─── The rounds of a training loop as they are taken down


ROUND_STATES = 20  # states of rounds
STEPS = 600  # of a round
BYTES = 1_000_000  # of a state


class OptimizerState(NamedTuple):
    """An optimizer: its class, its groups with parameters by number, and its state by parameter. Tensors of
    the state are arrays."""

    kind: type
    groups: tuple[dict[str, Any], ...]
    state: Mapping[int, Mapping[str, Any]]


class RoundState(NamedTuple):
    """How all stood after a round: tensors by number, optimizers, the state of random numbers (None: none are
    drawn), and the value of the root of its backward call. The update that follows has the learning `rate`
    (None: that of the cell)."""

    number: int
    tensors: Mapping[int, InputTensor]
    optimizers: tuple[OptimizerState, ...]
    random: Any
    loss: float
    rate: float | None = None


class RoundHistory:
    """Takes down the rounds of a loop. `segments` has the steps of the newest rounds, `current` those since
    then; `states` the newest states."""

    def __init__(self) -> None:
        self.current: list[Instruction] = []
        self.segments: deque[list[Instruction]] = deque(maxlen=2)
        self.states: deque[RoundState] = deque(maxlen=ROUND_STATES)
        self.optimizers: list[weakref.ref[Any]] = []
        self.start = 0  # the number of the first tensor of the current round
        self.count = 0
        self.why_not: tuple[str, Mapping[str, Any]] | None = None

    def refuse(self, key: str, **values: Any) -> None:
        """Note why there cannot be further rounds."""
        if self.why_not is None:
            self.why_not = key, values
            self.current, self.optimizers = [], []
            self.segments.clear()
            self.states.clear()

    def note(self, step: Instruction) -> None:
        """A step of the current round."""
        if self.why_not is None:
            self.current.append(step)
            if len(self.current) > STEPS:
                self.refuse("training_no_end", most=STEPS)

    def stepped(self, optimizer: Any, settings: Any) -> Instruction:
        """An optimizer changed its parameters."""
        known = [reference() for reference in self.optimizers]
        if not any(one is optimizer for one in known):
            self.optimizers.append(weakref.ref(optimizer))
            known.append(optimizer)
        index = next(i for i, one in enumerate(known) if one is optimizer)
        return Instruction("optimizer", None, (index,), answer=settings)

    def ended(self, taker: Any, root: Any, random: Any) -> None:
        """A backward call ended, and with it the round. `taker` knows the tensors."""
        self.count += 1
        if self.why_not is not None:
            return
        tensors, size = {}, 0
        for number, tensor in taker.alive():
            if number < self.start or not self.count > 1:
                tensors[number] = given = taker.standing(tensor)
                size += given.data.nbytes * (1 + (given.grad is not None))
        optimizers = tuple(state_of(one, taker) for one in self.live_optimizers())
        kept = [value for one in optimizers for state in one.state.values() for value in state.values()]
        size += sum(getattr(value, "nbytes", 0) for value in kept) + getattr(random, "nbytes", 0)
        if size > BYTES:
            return self.refuse("live_no_room")
        loss = float(root) if root is not None else float("nan")
        self.states.append(RoundState(self.count, tensors, optimizers, random, loss))
        self.segments.append(self.current)
        self.current, self.start = [], taker.count
        return None

    def live_optimizers(self) -> Iterable[Any]:
        """The optimizers that are still there."""
        return [one for reference in self.optimizers if (one := reference()) is not None]


def state_of(optimizer: Any, taker: Any) -> OptimizerState:
    """An optimizer as it stands now."""
    groups = tuple(
        {**group, "params": [taker.number_of(p) for p in group["params"]]} for group in optimizer.param_groups
    )
    state = {taker.number_of(param): arrays_in(own, taker) for param, own in optimizer.state.items()}
    return OptimizerState(type(optimizer), groups, state)


def arrays_in(own: Mapping[str, Any], taker: Any) -> dict[str, Any]:
    """The state of one parameter, with arrays for tensors."""
    copied = taker.copied
    return {name: copied(value, counts=False) if is_tensor(value) else value for name, value in own.items()}


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
