"""Observers: what minigrad calls while somebody watches a thread, such as the viewer."""

from __future__ import annotations

from typing import Any

from .modes import state, switch


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
        """After `bool()`, `int()` or `complex()` of a tensor, on which a program may go on in another way."""

    def asked(self, tensor: Any) -> None:
        """After `requires_grad` was set."""

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
