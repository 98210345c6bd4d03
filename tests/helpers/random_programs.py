"""Random programs that minigrad and PyTorch run side by side: what they consist of, and one run of them.

A program works on a list of tensors. Each instruction picks operands by number (modulo the length of the
list) and appends its results, so that every list of instructions is a program and hypothesis can shrink it.
After each instruction the `grad_fn` of every tensor is read: PyTorch brings a view whose base was written to
up to date only then (a hook that is registered on such a view before ends the process).
"""

from __future__ import annotations

import contextlib
import re
import warnings
from typing import Any

import numpy as np
from random_functions import make_functions
from random_instructions import BINARY, IN_PLACE, LARGE, MODES, TURN, UNARY, VALUES, VIEWS
from random_limits import is_left_out
from twins import ages, dtype_of, graph, numbers, outcome


def made_by(t: Any) -> Any:
    """The name of a tensor's node, None for a leaf."""
    return t.grad_fn and t.grad_fn.name()


def summary(t: Any, version: bool = True) -> Any:
    """What must be equal of a tensor beside its numbers."""
    if t is None:
        return None
    return (
        dtype_of(t),
        list(t.shape),
        t.requires_grad,
        outcome(lambda: t.is_leaf),
        outcome(made_by, t),
        version and outcome(lambda: t._version),
        t.is_inference(),
        t._is_view(),
        t.output_nr,
    )


class Run:
    """One program in one library: `facts` must be equal, `values` nearly so."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.functions = make_functions(library)
        self.tensors: list[Any] = []
        self.handles: list[Any] = []
        self.modes: list[Any] = []
        self.facts: list[Any] = []
        self.at_end = False
        self.packed = False
        self.hooked: list[Any] = []
        self.values: list[Any] = []

    def start(self, leaves: list[str]) -> None:
        for name in leaves:
            learns = not name.startswith("constant")
            self.tensors.append(
                self.library.tensor(VALUES[name], dtype=self.library.float64, requires_grad=learns)
            )
        self.leaves = list(self.tensors)

    def whole(self, program: Any) -> Run:
        """Run a program from beginning to end."""
        leaves, instructions, end, i, j = program
        try:
            self.start(leaves)
            for instruction in instructions:
                self.step(*instruction)
            self.finish(end, i, j)
        finally:
            while self.modes:
                self.modes.pop().__exit__(None, None, None)
        return self

    def step(self, kind: str, name: str, i: int, j: int) -> None:
        a, b = self.tensors[i % len(self.tensors)], self.tensors[j % len(self.tensors)]
        if a.numel() > LARGE or b.numel() > LARGE:
            return
        noted = len(self.facts)
        result = outcome(lambda: self.perform(kind, name, a, b))
        if isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], str):
            del self.facts[noted:]  # PyTorch packs before it finds that shapes do not fit, we afterwards
            self.facts.append(("error", kind, name, *result))
        else:
            if a.is_inference() and not self.library.is_inference_mode_enabled():
                return  # the versions of results that PyTorch makes without autograd are chance
            for made in (result if isinstance(result, (tuple, list)) else (result,))[:3]:
                if made is not None:
                    self.tensors.append(made)
                    self.facts.append(
                        (kind, name, summary(made), outcome(lambda t=made: (graph(t), ages(t))))
                    )
                    self.values.append(made)
        self.facts.append([outcome(made_by, t) for t in self.tensors])

    def perform(self, kind: str, name: str, a: Any, b: Any) -> Any:
        """Run one instruction; what it returns is appended to the tensors."""
        hooked = any(t is a for t in self.hooked)
        if is_left_out(self.library, self.packed or hooked, kind, name, a, b):
            return None
        if kind == "hook" and hooked and isinstance(outcome(made_by, a), tuple):
            return None  # a refused view: PyTorch refuses its first hook and takes the second
        if kind == "unary":
            return UNARY[name](a)
        if kind == "binary":
            return BINARY[name](a, b)
        if kind == "view":
            return VIEWS[name](a)
        if kind == "in place":
            IN_PLACE[name](a, b)
            return None
        if kind == "turn":
            TURN[name](a)
            return None
        if kind == "function":
            return self.functions[name](a, b)
        if kind == "mode":
            return self.enter(MODES[name](self.library))
        if kind == "saved hooks":
            self.packed = True
            return self.enter(self.saved_hooks(name))
        if kind == "leave":
            return self.modes.pop().__exit__(None, None, None) if self.modes else None
        if kind == "retain":
            return a.retain_grad()
        if kind == "hook":
            return self.register(name, a)
        if kind == "remove":
            return self.handles.pop().remove() if self.handles else None
        if kind == "backward":
            return a.backward(self.ones(a), retain_graph=name == "retained")
        assert kind == "forget"
        a.grad = None
        return None

    def enter(self, context: Any) -> None:
        context.__enter__()
        self.modes.append(context)

    def saved_hooks(self, name: str) -> Any:
        """Saved-tensor hooks that note what they see, and keep it as an array or as it is."""

        def pack(t: Any) -> Any:
            if not self.at_end:  # where we take derivatives that PyTorch leaves out, as nobody asks for them
                self.facts.append(
                    ("pack", dtype_of(t), list(t.shape), t.requires_grad, t.grad_fn and t.grad_fn.name())
                )
            return t if name == "same" else numbers(t)

        def unpack(kept: Any) -> Any:
            self.facts.append(("unpack", list(kept.shape)))
            return kept if name == "same" else self.library.tensor(kept)

        return self.library.autograd.graph.saved_tensors_hooks(pack, unpack)

    def ones(self, t: Any) -> Any:
        return self.library.ones_like(t.detach())

    def register(self, name: str, a: Any) -> None:
        self.hooked.append(a)
        if name in ("see", "double"):
            self.handles.append(a.register_hook(self.hook(name)))
        elif name == "accumulated":
            self.handles.append(a.register_post_accumulate_grad_hook(self.accumulated))
        elif a.grad_fn is not None:
            if name == "pre":
                self.handles.append(a.grad_fn.register_prehook(self.before))
            else:
                self.handles.append(a.grad_fn.register_hook(self.after(name)))

    def note(self, what: str, grads: Any) -> None:
        self.facts.append((what, [None if g is None else (list(g.shape), g.requires_grad) for g in grads]))
        self.values += [None if g is None else g.detach().clone() for g in grads]

    def hook(self, name: str) -> Any:
        def call(g: Any) -> Any:
            self.note("hook", [g])
            return g * 2 if name == "double" else None

        return call

    def accumulated(self, leaf: Any) -> None:
        self.note("accumulated", [leaf.grad])

    def before(self, grads: Any) -> None:
        self.note("before", grads)

    def after(self, name: str) -> Any:
        def call(sent: Any, received: Any) -> Any:
            self.note("sent", sent)
            self.note("received", received)
            return tuple(None if g is None else g * 2 for g in sent) if name == "post double" else None

        return call

    def finish(self, end: str, i: int, j: int) -> None:
        a, b = self.tensors[i % len(self.tensors)], self.tensors[j % len(self.tensors)]
        self.at_end = True
        self.facts.append(outcome(lambda: self.differentiate(end, self.tensors[-1], a, b)))
        for t in self.tensors:
            self.facts.append((summary(t), t.retains_grad, summary(t.grad, False)))
            self.values += [t, t.grad]

    def differentiate(self, end: str, root: Any, a: Any, b: Any) -> None:
        """The end of a program: a backward call of some kind, or several."""
        seed = self.ones(root)
        grad = self.library.autograd.grad
        learned = [t for t in self.leaves if t.requires_grad]
        if end in ("backward", "twice"):
            root.backward(seed, retain_graph=end == "twice")
            if end == "twice":
                root.backward(self.ones(root))  # the first seed may have become a `.grad`
        elif end == "create_graph":
            root.backward(seed, create_graph=True)
            self.second_order([t.grad for t in learned], learned)
        elif end == "roots":
            self.library.autograd.backward([root, a], [seed, self.ones(a)])
        elif end == "inputs":
            root.backward(seed, inputs=[a, b])
        elif end in ("inner", "inner twice"):
            grads = grad(root, [a, b], seed, create_graph=end == "inner twice", allow_unused=True)
            self.second_order(grads, learned)
        else:
            grads = grad(root, learned, seed, create_graph=end == "second order", allow_unused=True)
            self.second_order(grads, learned)

    def second_order(self, grads: Any, learned: list[Any]) -> None:
        """Note gradients and their graph, and differentiate them again."""
        self.values += grads
        ready = [g for g in grads if g is not None and g.requires_grad]
        if ready:
            self.facts.append((graph(*ready), ages(*ready)))
            ones = [self.ones(g) for g in ready]
            self.values += self.library.autograd.grad(ready, learned, ones, allow_unused=True)


def without_origin(fact: Any) -> Any:
    """The error about a saved value without its sizes and the node that made it: PyTorch gives those of the
    tensor that `t_()` and its kin made of it since.
    """
    if isinstance(fact, tuple):
        return tuple(without_origin(part) for part in fact)
    pattern = r"Tensor \[[\d, ]*\]\](, which is output \d+ of [\w:]+,)?"
    return re.sub(pattern, "Tensor]", fact) if isinstance(fact, str) else fact


def close(ours: Any, theirs: Any) -> bool:
    """Whether two gradients or values agree to 8 digits; where PyTorch has NaN or infinity, so have we, of
    whichever kind: that depends on the sign of a zero, which depends on the order of a product's terms.
    """
    if ours is None or theirs is None:
        return ours is theirs
    a, b = numbers(ours), numbers(theirs)
    if a.shape != b.shape:
        return False
    no_number = ~np.isfinite(a) & ~np.isfinite(b)
    return bool(np.all(no_number | np.isclose(a, b, rtol=1e-8, atol=1e-10, equal_nan=True)))


def difference(ours: Run, theirs: Run, turned: bool) -> str | None:
    """The first thing in which two runs differ, in words; None if there is none. `turned`: tensors were."""
    seen = without_origin if turned else lambda fact: fact
    for a, b in zip(ours.facts, theirs.facts, strict=False):
        if seen(a) != seen(b):
            return f"\nours    {a}\nPyTorch {b}"
    if len(ours.facts) != len(theirs.facts) or len(ours.values) != len(theirs.values):
        return (
            f"{len(ours.facts)}, {len(ours.values)} notes against {len(theirs.facts)}, {len(theirs.values)}"
        )
    for a, b in zip(ours.values, theirs.values, strict=True):
        if not close(a, b):
            return f"\nours    {a}\nPyTorch {b}"
    return None


def compare(program: Any, *libraries: Any) -> str | None:
    """Run a program in both libraries; what differs, or None."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(np.errstate(all="ignore"))
        turned = any(kind == "turn" for kind, *_ in program[1])
        return difference(*(Run(library).whole(program) for library in libraries), turned)
