"""Runs of a program: the cell's own, which is recorded, and later ones with other numbers.

The trace of a replay has no places in the source and no names. So the cell's own trace is taken, and where it
has a number the replay's is put instead. Both have the same events in the same order, or the replay is not
the cell's program.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..isolation import silence
from ..protocol import Value
from ..recording.calls import STEPS
from ..recording.recorder import Recorder
from ..sources import Minigrad, PyTorch
from ..trace.calls import InputTensor
from ..trace.events import (
    BackwardStarted,
    ModeChanged,
    ModuleCalled,
    ModuleReturned,
    NodeState,
    NumberRead,
    Snapshot,
    Statement,
    Trace,
    of_kinds,
)
from ..trace.graph import SavedChip
from ..trace.source_positions import Span
from .derivation import build_tensor, library_module, program_of
from .program import Instruction, Program, bind, fill_template

# ─── Recording a cell


class Watch:
    """A cell that is recorded by `recorder`, of whose notes its program can be made."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def stop(self, error: BaseException | None = None) -> tuple[Trace, Program | None]:
        """The trace of the cell and its program; None if there is none."""
        trace, cell = self.recorder.stop(error), self.recorder.cell
        computes = cell is not None and (STEPS.intersection(map(type, cell.notes)) or cell.hindrances)
        return trace, Program(functools.partial(program_of, cell)) if cell and computes else None

    def detach(self) -> None:
        """Stop observing; it may be called again."""
        self.recorder.detach()


def watch(source: str, namespace: dict[str, Any], rounds: bool = False, **options: Any) -> Watch:
    """Begin to record a cell, with the states after its `rounds` if it has a loop; options are those of a
    Recorder."""
    recorder = Recorder(source, namespace, rounds=rounds, **options)
    recorder.start()
    return Watch(recorder)


# ─── Running a program again, with other numbers, under a recorder of its own


Changes = Mapping[int, Mapping[tuple[int, ...], float]]  # by number of a tensor: numbers by place in it


class OtherBranch(Exception):
    """The cell would have gone on in another way: at `line` it asked for a value of a tensor, which was
    `before` and is now `after`."""

    def __init__(self, line: int, before: Any, after: Any) -> None:
        super().__init__(f"line {line}: {before!r} became {after!r}")
        self.line, self.before, self.after = line, before, after


class Machine(NamedTuple):
    """What a library needs to run a program."""

    module: Any
    source: Callable[[], Any]
    build: Callable[[InputTensor], Any]


def machine(library: str) -> Machine:
    """That of a library."""
    module, source = library_module(library), Minigrad if library == "minigrad" else PyTorch
    return Machine(module, source, functools.partial(build_tensor, module=module))


def with_changes(given: InputTensor, number: int, changes: Changes) -> InputTensor:
    """What was given, with the numbers that it is to have."""
    if number not in changes:
        return given
    data = np.array(given.data)
    for place, value in changes[number].items():
        data[place] = value
    return given._replace(data=data if data.ndim else data[()])


def run(program: Program, changes: Changes, source: str) -> Trace:
    """The trace of a program, which ran with some numbers changed. `source` is the cell's. Turned if the cell
    would not have run the same program."""
    parts = machine(program.library)
    namespace: dict[str, Any] = {}
    with isolated_run(parts.module, draws=any(step.kind == "draw" for step in program.steps)):
        tensors = {n: parts.build(with_changes(given, n, changes)) for n, given in program.given.items()}
        seeds = {i: parts.module.tensor(s.answer) for i, s in enumerate(program.steps) if s.kind == "draw"}
        recorder = Recorder("", namespace, [parts.source()])
        recorder.start()
        try:
            for i, step in enumerate(program.steps):
                if i in seeds:
                    parts.module.set_rng_state(seeds[i])
                if step.kind == "names":
                    name_all(namespace, step.answer, tensors)
                else:
                    perform(step, tensors, parts, changes)
            name_all(namespace, program.names, tensors)
        finally:
            parts.module.set_grad_enabled(True)
            trace = recorder.stop()
    return trace._replace(source=source)


def perform(
    step: Instruction, tensors: dict[int, Any], parts: Machine, changes: Changes = MappingProxyType({})
) -> None:
    """Take one step that computes."""
    if step.kind == "make":
        assert step.made is not None
        number = step.results.number
        bind(step.results, parts.build(with_changes(step.made, number, changes)), tensors)
        return
    if parts.module.is_grad_enabled() != step.grad_mode:
        parts.module.set_grad_enabled(step.grad_mode)
    assert step.run is not None
    result = step.run(*fill_template(step.args, tensors), **fill_template(dict(step.options), tensors))
    if step.kind == "ask":
        if result != step.answer:
            raise OtherBranch(step.line, step.answer, result)
    elif step.results is not None:
        bind(step.results, result, tensors)


def name_all(namespace: dict[str, Any], names: Mapping[str, int], tensors: Mapping[int, Any]) -> None:
    """Let the variables of a replay be as those of the cell were."""
    namespace.clear()
    namespace.update({name: tensors[number] for name, number in names.items()})


@contextlib.contextmanager
def isolated_run(module: Any, draws: bool) -> Iterator[None]:
    """Nothing of what runs is noticed outside: no warning, no other mode, and no random number if it `draws`
    any."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(silence())
        if draws:
            stack.enter_context(module.random.fork_rng(devices=[]))
        stack.enter_context(module.enable_grad())
        yield


# ─── The trace of a cell with the numbers of another run of the same program


UNTOLD = (
    Statement,
    ModeChanged,
    ModuleCalled,
    ModuleReturned,
    NumberRead,
)  # events that a replay does not have


class Differs(Exception):
    """A replay did something else than the cell."""


def graft(trace: Trace, replay: Trace) -> Trace:
    """`trace` with the numbers of `replay`. Differs if they are not of one program."""
    theirs = iter([event for event in replay.events if event.__class__ not in UNTOLD])
    events: list[Any] = []
    for event in trace.events:
        events.append(event if event.__class__ in UNTOLD else graft_part(event, next(theirs, None)))
    if next(theirs, None) is not None:
        raise Differs("the replay has more events")
    starts = of_kinds(events, BackwardStarted)
    rounds, norms = trace.rounds, trace.norms
    if len(starts) == len(rounds) == len(replay.rounds):
        rounds, norms = replay.rounds, replay.norms
    nodes = graft_part(trace.nodes, replay.nodes) if len(trace.nodes) == len(replay.nodes) else trace.nodes
    return trace._replace(events=tuple(events), nodes=nodes, rounds=rounds, norms=norms)


def graft_part(mine: Any, theirs: Any) -> Any:
    """Part of a trace, with the numbers of another."""
    if mine is theirs:  # most parts are names and flags
        return mine
    if isinstance(mine, Value):
        if not isinstance(theirs, Value) or mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            raise Differs(f"{mine} became {theirs}")
        return theirs
    if isinstance(theirs, Value):
        raise Differs(f"{mine} became {theirs}")
    if isinstance(mine, Snapshot):
        return graft_rows(mine, theirs)
    if isinstance(mine, SavedChip):
        same = isinstance(theirs, SavedChip) and mine.name == theirs.name
        if not same:
            raise Differs(f"{mine} became {theirs}")
        value = graft_part(mine.value, theirs.value)
        return mine._replace(value=value, nbytes=theirs.nbytes, memory=theirs.memory)
    if isinstance(mine, NodeState) and isinstance(theirs, NodeState):
        return mine._replace(saved=graft_part(mine.saved, theirs.saved), memory=theirs.memory)
    if isinstance(mine, tuple) and not isinstance(mine, Span):
        if type(mine) is not type(theirs) or len(mine) != len(theirs):
            raise Differs(f"{mine} became {theirs}")
        parts = [graft_part(a, b) for a, b in zip(mine, theirs)]
        return type(mine)(*parts) if hasattr(mine, "_fields") else tuple(parts)
    return mine


def graft_rows(mine: Snapshot, theirs: Any) -> Snapshot:
    """The state of the named tensors, found by their names."""
    if not isinstance(theirs, Snapshot):
        raise Differs(f"{mine} became {theirs}")
    known = dict(theirs.rows)
    if any(name not in known for name, _ in mine.rows):
        raise Differs(f"{mine.when}: {sorted(known)}")
    rows = tuple((name, graft_part(state, known[name])) for name, state in mine.rows)
    return mine._replace(rows=rows)
