"""State that changes what an op does, and who watches: grad mode, inference mode, hooks, observers.

All of it is thread-local except anomaly detection, which PyTorch keeps for the whole process. Every op first
checks one thing: is `active` zero? Only if some thread has left the normal state does the op read the
thread-local state, so the normal case costs one global read.

Note [Quiet kernels]
    NumPy reports 1/0 or log(-1) as a RuntimeWarning; PyTorch does not. `np.errstate` around each op would
    cost more than the op. NumPy keeps its error state in a context variable, so kernels run in one prepared
    `contextvars.Context` whose error state is "ignore". Entering it costs nothing measurable. A context
    cannot be entered twice (by a second thread, or by a kernel that calls an op); then `quiet` uses a new
    one. Only NumPy code runs in it, never a user's. Jupyter routes output by context variables too, so what
    user code prints would go to the wrong notebook cell.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

# ─── State that changes what an op does: grad mode, inference mode, saved-tensor hooks, forward mode,
# observers


active = 0  # the number of threads × modes away from the normal state (grad on, all else off)

grad_switches = 0  # how often users switched the grad mode, in all threads


class _Away:
    """The number of modes in which one thread is away from the normal state. When the thread ends, they are
    subtracted from `active`.
    """

    __slots__ = ("modes",)

    def __init__(self) -> None:
        self.modes = 0

    def __del__(self) -> None:
        if self.modes:
            _count(-self.modes)


class _State(threading.local):
    """The modes of a thread, with their normal values.

    With `inference`, results are inference tensors, which stay outside any graph, and nothing is recorded
    whatever `grad_enabled` says. `multithreading` is only stored: backward runs in the calling thread.
    `saved_hooks` are pairs (pack, unpack), the innermost last. `hooks_refused` is the text of the error that
    forbids such hooks, or None. `dual_level` counts the open levels of forward mode. It is set for all
    threads (`set_dual_level`), as in PyTorch; `forward_grad` switches forward mode off for one of them.
    """

    grad_enabled = True
    inference = False
    multithreading = True
    saved_hooks: tuple[tuple[Any, Any], ...] = ()
    hooks_refused: str | None = None
    mutation: Any = None  # its `before_write(array)` is called where saved tensors may be modified
    dual_level = 0
    forward_grad = True
    record_tangents = False
    constant_primals = False
    transforms: tuple[str, ...] = ()  # the transforms of `func` around the running code, by kind
    observers: tuple[Any, ...] = ()
    tape: Any = None  # inside `func.vmap`, what `record`s each op of the example that runs
    randomness = ""  # inside `func.vmap`, its `randomness`: "error", "different" or "same"

    def __init__(self) -> None:
        self.away = _Away()


class Anomaly:
    """Anomaly detection of the whole process: whether it is on, and whether gradients are checked for NaN."""

    enabled = False
    check_nan = True


anomaly = Anomaly()


state = _State()


def _count(change: int) -> None:
    global active
    active += change


def switch(name: str, value: Any) -> Any:
    """Set one mode of this thread, an attribute of `_State`, and return its old value."""
    global active
    here = state.__dict__  # reading attributes one by one takes three times as long
    normal = NORMAL[name]
    before = here.get(name, normal)
    if before is not value:
        here[name] = value
        if name in UNCOUNTED:
            return before
        if value == normal:
            change = -1
        elif before == normal:
            change = 1
        else:
            return before
        here["away"].modes += change
        active += change  # at once: see Note [Threads] in `tensor_state`
    return before


class Within:
    """Modes of this thread that are different inside a block: `with Within(grad_enabled=False):`.

    Note [Interrupts]
        A signal handler runs, and may raise, wherever Python calls a function or goes back in a loop. So what
        belongs together is switched by statements that do neither: all of it has happened, or nothing.
    """

    __slots__ = ("modes",)

    def __init__(self, **modes: Any) -> None:
        self.modes = modes

    def __enter__(self) -> None:
        global active
        here, before, change = state.__dict__, {}, 0
        for name, value in self.modes.items():
            normal = NORMAL[name]
            was = before[name] = here.get(name, normal)
            if name not in UNCOUNTED:
                change += (value != normal) - (was != normal)
        here |= self.modes  # from here on nothing can interrupt
        here["away"].modes += change
        active += change
        self.modes = before

    def __exit__(self, *exc: object) -> None:
        try:
            self.__enter__()
        except BaseException:  # it was interrupted before anything has happened
            self.__enter__()
            raise


def hidden_from_observers(grad: bool) -> Within:
    """Return a block for ops that the library runs for itself: recorded (or not) as asked, seen by no
    observer.
    """
    return Within(grad_enabled=grad, observers=())


def now() -> dict[str, Any]:
    """Return the modes of this thread, for `restore`."""
    return dict(vars(state))


def restore(before: dict[str, Any]) -> None:
    """Restore the modes of this thread after user code that ran inside backward has changed them."""
    if vars(state) == before:
        return
    for name in RESTORED:
        value = before.get(name, NORMAL[name])
        if getattr(state, name) != value:
            was = switch(name, value)
            if name in ("inference", "saved_hooks"):
                mode = "inference" if name == "inference" else "saved_tensors_hooks"
                notify("mode_changed", mode, not was if name == "inference" else len(value) > len(was))


NORMAL = {name: value for name, value in vars(_State).items() if name[0] != "_"}
# Modes that change no op. They are read where they matter, so ops inside transforms take the short ways.
UNCOUNTED = frozenset(("transforms", "hooks_refused", "randomness", "multithreading"))
RESTORED = tuple(n for n in NORMAL if n not in ("dual_level", "observers"))


def set_anomaly(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly detection for all threads."""
    if enabled != anomaly.enabled:
        _count(1 if enabled else -1)
    anomaly.enabled, anomaly.check_nan = enabled, check_nan


def set_dual_level(level: int) -> None:
    """Open (1) or close (0) a level of forward mode for all threads."""
    repeat_for_each()
    _count(level - _State.dual_level)
    _State.dual_level = level


def is_forward() -> bool:
    """Return whether ops of this thread give their results tangents."""
    return bool(active and state.dual_level and state.forward_grad and not state.inference)


def is_watched(tensors: bool) -> bool:
    """Whether somebody could notice how a backward pass of this thread runs: observers, anomaly detection,
    forward mode, hooks on what is saved. Observers that look at ops only notice passes on `tensors`.
    """
    if not active:
        return False
    if anomaly.enabled or state.dual_level or state.saved_hooks or state.mutation is not None:
        return True
    return any(tensors or getattr(observer, "only_ops", False) is not True for observer in state.observers)


def notify(event: str, *about: Any) -> None:
    """Call the method `event` of the observers of this thread, if there are any."""
    if active:
        for observer in state.observers:
            getattr(observer, event)(*about)


def repeat_for_each() -> None:
    """Note that the example of `func.vmap` that runs, if one does, does more than ops. So what it does must
    be done for each of the others.
    """
    if active and state.tape is not None:
        state.tape.give_up()


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
    """Return whether ops of this thread record a graph: grad mode is on and inference mode is off."""
    return not active or (state.grad_enabled and not state.inference)


def is_inference_mode_enabled() -> bool:
    """Return whether this thread is in inference mode."""
    return state.inference


def ask_grad_mode(enabled: bool) -> bool:
    """Switch recording on or off on behalf of the user, and return the old value. Observers are notified of a
    change.
    """
    global grad_switches
    before: bool = switch("grad_enabled", enabled)
    if before != enabled:
        grad_switches += 1
        notify("mode_changed", "grad", enabled)
    return before


def enter_grad_mode(enabled: bool) -> bool:
    """Do the same at the beginning of a block, which an interrupt leaves as if it had not begun."""
    before = is_grad_enabled()
    try:
        return ask_grad_mode(enabled)
    except BaseException:
        switch("grad_enabled", before)
        raise


def observers() -> tuple[Any, ...]:
    """Return the observers of this thread. See `add_observer`."""
    return state.observers if active else ()


def snapshot() -> tuple[Any, ...]:
    """Return the whole state, to compare before and after a test."""
    modes = tuple(getattr(state, name) for name in NORMAL)
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
        if not is_entered(error):
            raise
    return _silence().run(kernel, *args)


def is_entered(error: Exception) -> bool:
    """Return whether a kernel could not run because the context is in use. See Note [Quiet kernels]."""
    return isinstance(error, RuntimeError) and str(error).startswith("cannot enter context")


# ─── Observers: what minigrad calls while somebody watches a thread, such as the viewer


class Observer:
    """What minigrad calls while the observer is added to a thread; each of these methods does nothing.

    An observer must not change anything. The second call of a pair, `…_ended`, also follows an error, except
    for hooks.
    """

    def forward(self, op: Any, inputs: Any, outputs: Any) -> None:
        """After each op: an `Op`, or the class of a custom Function."""

    def mutated(self, op: Any, values: Any, version: int, history: tuple[Any, int]) -> None:
        """After an in-place change of `values[0]`, with its version and (node, output number) before."""

    def created(self, tensor: Any, data: Any) -> None:
        """After a tensor is made from `data`; None for `arange` and the like."""

    def detached(self, source: Any, result: Any, how: str) -> None:
        """After `detach()` or `.data` ("data"); before `detach_()`, where both tensors are one."""

    def left(self, tensor: Any, how: str, value: Any) -> None:
        """After values of a tensor were returned as Python or NumPy data ("item", "numpy" …)."""

    def answered(self, tensor: Any, value: Any) -> None:
        """After `bool()`, `int()` or `complex()` of a tensor, on which a program may go on in another way;
        after `allclose` and `equal` with the tensor of which all elements must hold.
        """

    def asked(self, tensor: Any) -> None:
        """After `requires_grad` was set."""

    def retained(self, tensor: Any) -> None:
        """After `retain_grad()`."""

    def grad_set(self, tensor: Any, before: Any) -> None:
        """After `.grad`, which was `before`, was assigned or deleted."""

    def mode_changed(self, mode: str, enabled: bool) -> None:
        """After the user switched a mode."""

    def backward_started(self, roots: Any, gradients: Any, options: Any) -> None:
        """Before a backward call. Roots and `options.inputs` are tensors or GradientEdges."""

    def backward_ended(self, error: Any, captured: Any) -> None:
        """After it, with the error that ended it or the gradients that it returns."""

    def deposit_starts(self, node: Any) -> None:
        """Before an AccumulateGrad runs."""

    def node_ran(self, node: Any, received: Any, sent: Any) -> None:
        """After any node ran."""

    def hook_starts(self, node: Any, kind: str, hook: Any, index: int, gradients: Any) -> None:
        """Before a hook. One on several tensors is of the kind "multi" and runs inside the hook of the tensor
        that made it ready; some of its gradients may be None.
        """

    def hook_ended(self, gradients: Any, gave: bool) -> None:
        """After it; `gave` says whether it returned something."""

    def custom_starts(self, node: Any) -> None:
        """Before the backward of a custom Function."""

    def custom_ended(self) -> None:
        """After it."""

    def packed(self, node: Any, name: Any, tensor: Any, kept: Any) -> None:
        """After a pack hook; the name is a number for `saved_tensors[i]`."""

    def unpacked(self, node: Any, name: Any, kept: Any, tensor: Any) -> None:
        """After an unpack hook."""

    def recomputed(self, started: bool) -> None:
        """Before a checkpointed function runs again, and after it."""

    def transform_starts(self) -> None:
        """Before a function that `vmap`, `jacrev`, `jacfwd` or `hessian` has made runs, or `jacobian`."""

    def transform_ended(self, name: str, args: Any, result: Any) -> None:
        """After it, with the transform's name; the result is None after an error."""

    def called(self, module: Any, args: Any, kwargs: Any) -> None:
        """Before a module runs."""

    def returned(self, module: Any, result: Any) -> None:
        """After it, with what it returns; None after an error."""

    def step_starts(self, optimizer: Any) -> None:
        """Called before an optimizer changes its parameters. The ops of the step itself are not reported."""

    def step_ended(self, optimizer: Any) -> None:
        """After it."""


def add_observer(observer: Any) -> None:
    """Notify `observer` of everything that this thread does. It must not change anything.

    These methods are called for ops and tensors: `forward(op, inputs, outputs)` after each op; `mutated(op,
    values, version, history)` after each in-place change of `values[0]` (version and (node, number) are those
    before); `created(tensor, data)` after a tensor is made from data (None for `arange`, for example);
    `detached(source, result, how)` after `detach()` or `.data` ("data"; before `detach_()`, where both are
    one tensor); `left(tensor, how, value)` after its numbers were read ("item", "numpy");
    `answered(tensor, value)` after `bool()`, `int()` or `complex()`; `asked(tensor)` after `requires_grad`
    was set; `grad_set(tensor, before)` after `.grad` was assigned or deleted;
    `mode_changed(mode, enabled)` after the user switched a mode.

    Around each backward call: `backward_started(roots, gradients, options)` and `backward_ended(error,
    captured)`. Inside it: `deposit_starts(node)` before an AccumulateGrad runs, `node_ran(node, received,
    sent)` after any node, `hook_starts(node, kind, hook, index, gradients)` and `hook_ended(gradients, gave)`
    around each hook (`gave` is what it returned, or None), `custom_starts(node)` and `custom_ended()` around
    the backward of a custom Function. `custom_ended` is also called after an error, `hook_ended` is not.
    Roots and `options.inputs` are tensors or GradientEdges. A hook on several tensors has the kind "multi",
    runs inside the hook of the tensor that completed it, and some of its gradients may be None.

    `packed(node, name, tensor, kept)` and `unpacked(node, name, kept, tensor)` are called after a
    saved-tensor hook ran (the name is a number for `saved_tensors[i]`). `recomputed(started)` is called
    before and after a checkpointed function runs again. `transform_starts()` and `transform_ended(name, args,
    result)` are called around what `vmap`, `jacrev`, `jacfwd` and `hessian` make, and around `jacobian` and
    `hessian` of `autograd.functional`. `called(module, args, kwargs)` and
    `returned(module, result)` are called around each call of a module; after an error `result` is None.
    """
    switch("observers", (*state.observers, observer))


def remove_observer(observer: Any) -> None:
    """Remove an observer; ValueError if it is not there."""
    seen = list(state.observers)
    seen.remove(observer)
    switch("observers", tuple(seen))
