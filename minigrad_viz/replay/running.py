"""Running a program again, with other numbers, under a recorder of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import minigrad

from ..protocol import pytorch
from ..recording.recorder import Recorder
from ..silence import silence
from ..sources import Minigrad, PyTorch
from ..trace.events import Trace
from . import taking_minigrad, taking_torch
from .program import Given, Instruction, Program, bind, filled

Changes = Mapping[int, Mapping[tuple[int, ...], float]]  # by number of a tensor: numbers by place in it


class Turned(Exception):
    """The cell would have gone on in another way: at `line` it asked for a value of a tensor, which was
    `before` and is now `after`."""

    def __init__(self, line: int, before: Any, after: Any) -> None:
        super().__init__(f"line {line}: {before!r} became {after!r}")
        self.line, self.before, self.after = line, before, after


class Machine(NamedTuple):
    """What a library needs to run a program."""

    module: Any
    source: Callable[[], Any]
    build: Callable[[Given], Any]


def machine(library: str) -> Machine:
    """That of a library."""
    if library == "minigrad":
        return Machine(minigrad, Minigrad, taking_minigrad.build)
    return Machine(pytorch(), PyTorch, taking_torch.build)


def changed(given: Given, number: int, changes: Changes) -> Given:
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
    with quietly(parts.module, draws=any(step.kind == "draw" for step in program.steps)):
        tensors = {n: parts.build(changed(given, n, changes)) for n, given in program.given.items()}
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
        bind(step.results, parts.build(changed(step.made, number, changes)), tensors)
        return
    if parts.module.is_grad_enabled() != step.grad_mode:
        parts.module.set_grad_enabled(step.grad_mode)
    assert step.run is not None
    result = step.run(*filled(step.args, tensors), **filled(dict(step.options), tensors))
    if step.kind == "ask":
        if result != step.answer:
            raise Turned(step.line, step.answer, result)
    elif step.results is not None:
        bind(step.results, result, tensors)


def name_all(namespace: dict[str, Any], names: Mapping[str, int], tensors: Mapping[int, Any]) -> None:
    """Let the variables of a replay be as those of the cell were."""
    namespace.clear()
    namespace.update({name: tensors[number] for name, number in names.items()})


@contextlib.contextmanager
def quietly(module: Any, draws: bool) -> Iterator[None]:
    """Nothing of what runs is noticed outside: no warning, no other mode, and no random number if it `draws`
    any."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(silence())
        if draws:
            stack.enter_context(module.random.fork_rng(devices=[]))
        stack.enter_context(module.enable_grad())
        yield
