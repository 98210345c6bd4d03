"""State that changes what an op does: grad mode, inference mode, saved-tensor hooks, forward mode, observers.

All of it is thread-local but anomaly detection, which PyTorch keeps for the whole process. Every op asks one
question first: is `active` zero? Only when some thread has left the normal state is the thread-local looked
at, so the normal case costs one global read.

Note [Quiet kernels]
    NumPy reports 1/0 or log(-1) as a RuntimeWarning, PyTorch says nothing. `np.errstate` around each op would
    cost more than the op. NumPy keeps its error state in a context variable, so kernels run in one prepared
    `contextvars.Context` whose error state is "ignore"; entering it costs nothing measurable. A context
    cannot be entered twice (by a second thread, or by a kernel that calls an op): then `quiet` falls back to
    a fresh copy. Only NumPy code runs in it, never a user's: what user code prints would be routed to the
    wrong notebook cell, because Jupyter routes output by context variables too.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

active = 0  # how many threads × modes are away from the normal state (grad on, everything else off)


class _Away:
    """How many modes one thread has away from the normal state; a thread that ends takes them along."""

    __slots__ = ("modes",)

    def __init__(self) -> None:
        self.modes = 0

    def __del__(self) -> None:
        if self.modes:
            _count(-self.modes)


class _State(threading.local):
    """The modes of a thread, with their normal values.

    `inference`: results are inference tensors, outside any graph for good, and nothing is recorded whatever
    `grad_enabled` says. `multithreading` is only remembered: backward runs in the calling thread.
    `saved_hooks` are pairs (pack, unpack), the innermost last; `hooks_refused` is the text of the error that
    forbids such hooks, if they are. `dual_level` counts the open levels of forward mode: it is set for all
    threads (`set_dual_level`), as in PyTorch, while `forward_grad` switches forward mode off for one of them.
    """

    grad_enabled = True
    inference = False
    multithreading = True
    saved_hooks: tuple[tuple[Any, Any], ...] = ()
    hooks_refused: str | None = None
    mutation: Any = None  # told `before_write(array)` where saved tensors may be written to
    dual_level = 0
    forward_grad = True
    transforms: tuple[str, ...] = ()  # the transforms of `func` that the thread is inside of, by kind
    observers: tuple[Any, ...] = ()
    randomness = ""  # inside of `func.vmap` what it says of random numbers: "error", "different", "same"

    def __init__(self) -> None:
        self.away = _Away()


class Anomaly:
    """Anomaly detection of the whole process: whether it is on, and whether gradients are tested for NaN."""

    enabled = False
    check_nan = True


anomaly = Anomaly()


state = _State()


def _count_here(change: int) -> None:
    state.away.modes += change
    _count(change)


def _count(change: int) -> None:
    global active
    active += change


def switch(name: str, value: Any) -> Any:
    """Set one mode of this thread, an attribute of `_State`, and return what it was."""
    before, normal = getattr(state, name), getattr(_State, name)
    setattr(state, name, value)
    change = (value != normal) - (before != normal)
    if change:
        _count_here(change)
    return before


def now() -> dict[str, Any]:
    """The modes of this thread, for `restore`."""
    return dict(vars(state))


def restore(before: dict[str, Any]) -> None:
    """Undo what user code that ran inside backward changed of this thread's modes and did not change back."""
    if vars(state) == before:
        return
    for name in RESTORED:
        value = before.get(name, getattr(_State, name))
        if getattr(state, name) != value:
            was = switch(name, value)
            if name in ("inference", "saved_hooks"):
                mode = "inference" if name == "inference" else "saved_tensors_hooks"
                announce(mode, not was if name == "inference" else len(value) > len(was))


RESTORED = tuple(n for n in vars(_State) if n[0] != "_" and n not in ("dual_level", "observers"))


def set_anomaly(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly detection for all threads."""
    if enabled != anomaly.enabled:
        _count(1 if enabled else -1)
    anomaly.enabled, anomaly.check_nan = enabled, check_nan


def set_dual_level(level: int) -> None:
    """Open (1) or close (0) a level of forward mode for all threads."""
    _count(level - _State.dual_level)
    _State.dual_level = level


def is_forward() -> bool:
    """Whether ops of this thread give their results tangents."""
    return bool(active and state.dual_level and state.forward_grad and not state.inference)


def announce(mode: str, enabled: bool) -> None:
    """Tell the observers of this thread that the user switched a mode."""
    for observer in state.observers:
        observer.mode_changed(mode, enabled)


def is_grad_enabled() -> bool:
    """Return whether operations on tensors that require a gradient are recorded.

    Args: none.
    Shape: none.
    Returns: True or False.
    Raises: nothing.
    Source: torch.is_grad_enabled

    >>> torch.is_grad_enabled()
    True
    """
    return not active or state.grad_enabled


def is_recording() -> bool:
    """Whether ops of this thread record a graph: the grad mode is on, the inference mode off."""
    return not active or (state.grad_enabled and not state.inference)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return state.inference


def set_grad_mode(enabled: bool) -> bool:
    """Switch recording on or off for this thread and return what it was."""
    global active
    here = state.__dict__  # a thread-local's attributes one by one, and a lock, take three times as long
    before: bool = here.get("grad_enabled", True)
    if before != enabled:
        change = -1 if enabled else 1
        here["grad_enabled"] = enabled
        here["away"].modes += change
        active += change  # at once: see Note [Threads] in `tensor_base`
    return before


def ask_grad_mode(enabled: bool) -> bool:
    """`set_grad_mode` for the user, not the library itself: observers are notified of a change."""
    before = state.grad_enabled
    if before != enabled:
        state.grad_enabled = enabled
        _count_here(-1 if enabled else 1)
        announce("grad", enabled)
    return before


Before = tuple[bool, bool, bool, bool]  # the modes that `ask_inference` changes, in its order


def ask_inference(enabled: bool) -> Before:
    """Switch inference mode for the user, and the modes that follow it. Returns what was before."""
    before = state.inference, state.grad_enabled, state.multithreading, state.forward_grad
    leave_inference((enabled, not enabled, not enabled, not enabled))
    return before


def leave_inference(before: Before) -> None:
    """Set what `ask_inference` changed; observers are notified of a change of the inference mode."""
    inference, grad, multithreading, forward_grad = before
    set_grad_mode(grad)
    switch("multithreading", multithreading)
    switch("forward_grad", forward_grad)
    if switch("inference", inference) != inference:
        announce("inference", inference)


def observers() -> tuple[Any, ...]:
    """The observers of this thread. See `add_observer`."""
    return state.observers if active else ()


def add_observer(observer: Any) -> None:
    """Let `observer` see what this thread does.

    It is told `forward(op, inputs, outputs)` after each op, `mutated(op, values, version, history)` after
    each in-place change of `values[0]` (version and (node, number) are those before), `created(tensor, data)`
    after a tensor is made from data (None for `arange`, say), `detached(source, result, how)` after
    `detach()` or `.data` ("data"; before `detach_()`, where both are one), `left(tensor, how, value)` after
    its numbers were given out ("item", "numpy"), `asked(tensor)` after `requires_grad` was set,
    `grad_set(tensor, before)` after `.grad` was assigned or deleted, `mode_changed(mode, enabled)` after the
    user switched one; `backward_started(roots, gradients, options)` and `backward_ended(error, captured)`
    around each backward call, and inside it `deposit_starts(node)` before an AccumulateGrad runs,
    `node_ran(node, received, sent)` after any node, `hook_starts(node, kind, hook, index, gradients)` and
    `hook_ended(gradients, gave)` around each hook, which gave something or None, `custom_starts(node)` and
    `custom_ended()` around the backward of a custom Function (the second of such a pair also after an error,
    for hooks only if there is none). Roots and `options.inputs` are tensors or GradientEdges. A hook on
    several tensors is of the kind "multi", inside the hook of the tensor that made it ready, and some of its
    gradients may be None. `packed(node, name, tensor, kept)` and `unpacked(node, name, kept, tensor)` are
    told after a saved-tensor hook ran (the name is a number for `saved_tensors[i]`), `recomputed(started)`
    when a checkpointed function starts and has ended to run again.
    It must not change anything.
    """
    state.observers += (observer,)
    _count_here(1)


def remove_observer(observer: Any) -> None:
    """Take away an observer; ValueError if it is not there."""
    seen = list(state.observers)
    seen.remove(observer)
    state.observers = tuple(seen)
    _count_here(-1)


def snapshot() -> tuple[Any, ...]:
    """The whole state, to compare before and after a test."""
    modes = tuple(getattr(state, name) for name in vars(_State) if not name.startswith("_"))
    return active, *modes, anomaly.enabled, anomaly.check_nan


def _silence() -> contextvars.Context:
    context = contextvars.Context()
    context.run(np.seterr, all="ignore")
    return context


enter = _silence().run


def quiet(kernel: Callable[..., Any], *args: Any) -> Any:
    """Call a NumPy kernel with floating-point warnings off. See Note [Quiet kernels]."""
    __tracebackhide__ = True
    try:
        return enter(kernel, *args)
    except RuntimeError as error:
        if not str(error).startswith("cannot enter context"):
            raise
    return _silence().run(kernel, *args)
