"""Random programs with hooks: on tensors, leaves and nodes, on views that are written to, removed in the
middle, over several backward calls of one graph.
"""

from __future__ import annotations

import random
from typing import Any

from twins import outcome

SHAPED: dict[str, Any] = {
    "first": lambda t: t[0],
    "rest": lambda t: t[1:],
    "flat": lambda t: t.view(-1),
    "column": lambda t: t[..., 1],
    "unsqueezed": lambda t: t.unsqueeze(0),
    "diagonal": lambda t: t.diagonal(),
    "expanded": lambda t: t.expand(2, *t.shape),
    "narrowed": lambda t: t.narrow(-1, 0, 1),
    "split": lambda t: t.split(1)[0],
    "unbound": lambda t: t.unbind()[-1],
    "detached": lambda t: t.detach(),
    "strided": lambda t: t.as_strided((2,), (1,)),
}
OPS: dict[str, Any] = {
    "add": lambda L, a, b: a + b,
    "mul": lambda L, a, b: a * b,
    "sub": lambda L, a, b: a - b * 2,
    "tanh": lambda L, a, b: a.tanh(),
    "square": lambda L, a, b: a**2,
    "sum": lambda L, a, b: a.sum(-1),
    "matmul": lambda L, a, b: a @ b,
    "where": lambda L, a, b: L.where(a.detach() > 0, a, b),
    "cat": lambda L, a, b: L.cat([a, b]),
    "max": lambda L, a, b: a.max(-1)[0],
    "clone": lambda L, a, b: a.clone(),
    "relu": lambda L, a, b: a.relu(),
}
WRITES: dict[str, Any] = {
    "mul_": lambda L, a, b: a.mul_(b),
    "add_": lambda L, a, b: a.add_(b),
    "mul_ 2": lambda L, a, b: a.mul_(2),
    "zero_": lambda L, a, b: a.zero_(),
    "copy_": lambda L, a, b: a.copy_(b),
    "tanh_": lambda L, a, b: a.tanh_(),
    "relu_": lambda L, a, b: a.relu_(),
    "set": lambda L, a, b: a.__setitem__(0, b),
    "set number": lambda L, a, b: a.__setitem__(..., 0.5),
    "set slice": lambda L, a, b: a.__setitem__(slice(1, None), a[:1].detach()),
    "leaky_relu_": lambda L, a, b: L.nn.functional.leaky_relu_(a),
    "masked_fill_": lambda L, a, b: a.masked_fill_(a > 0.5, 2),
    "clamp_": lambda L, a, b: a.clamp_(-1, 1),
    "addcmul_": lambda L, a, b: a.addcmul_(b, b),
}
RETURNS = (
    "none", "none", "double", "zeros", "itself", "detached", "wrong shape", "number", "error", "in place",
    "as list",
)  # fmt: skip
PLACES = (
    "tensor", "tensor", "leaf", "leaf", "prehook", "posthook", "retain", "multi", "multi any",
)  # fmt: skip
KINDS = {
    "op": 5,
    "view": 4,
    "write": 5,
    "hook": 6,
    "remove": 1,
    "backward": 3,
    "grad": 2,
    "forget": 1,
    "no_grad write": 1,
}
STARTS = ([[1.0, -0.5], [0.25, 2.0]], [[0.5, 1.5], [-1.0, 0.75]], [0.5, -2.0])


class Session:
    """One program in one library."""

    def __init__(self, L: Any, note: Any, learns: list[bool]) -> None:
        self.L, self.note = L, note
        self.leaves = [L.tensor(v, dtype=L.float64, requires_grad=g) for v, g in zip(STARTS, learns)]
        self.pool = [self.leaves[0] * 1, *self.leaves]
        self.handles: list[Any] = []
        self.calls = 0
        self.hooked: list[Any] = []

    def answer(self, how: str, g: Any) -> Any:
        """What a hook returns for a gradient."""
        if how == "double":
            return g * 2
        if how == "zeros":
            return self.L.zeros_like(g)
        if how == "itself":
            return g
        if how == "detached":
            return g.detach() + 1
        if how == "wrong shape":
            return g.sum() if g.dim() else g.unsqueeze(0)
        if how == "number":
            return 2.0
        if how == "error":
            raise KeyError("in a hook")
        if how == "in place":
            return g.clone().mul_(3)
        return None

    def hook(self, name: str, how: str) -> Any:
        def call(g: Any) -> Any:
            self.note(name, g)
            return self.answer(how, g)

        return call

    def on_node(self, name: str, how: str) -> Any:
        """A hook of a node: before it, or after it."""

        def call(*given: Any) -> Any:
            self.note(name, *given)
            first = given[0]
            made = [None if g is None else self.answer(how, g) for g in first]
            return None if how in ("none", "error") else made if how == "as list" else tuple(made)

        return call

    def on_leaf(self, name: str, how: str) -> Any:
        def call(p: Any) -> Any:
            self.note(name, p.grad)
            if how == "zeros":
                p.grad = None
            elif how == "in place":
                p.grad.mul_(2)
            elif how == "error":
                raise KeyError("after accumulation")
            return 1 if how == "number" else None

        return call

    def register(self, place: str, how: str, a: Any, b: Any) -> Any:
        name = f"{place} {self.calls}"
        self.calls += 1
        if place == "tensor":
            return a.register_hook(self.hook(name, how))
        if place == "leaf":
            leaf = self.leaves[self.calls % 3]
            if how in ("itself", "double", "detached", "none"):
                return leaf.register_hook(self.hook(name, how))
            return leaf.register_post_accumulate_grad_hook(self.on_leaf(name, how))
        if place == "retain":
            return a.retain_grad()
        if place.startswith("multi"):
            mode = "any" if place.endswith("any") else "all"
            register = self.L.autograd.graph.register_multi_grad_hook
            return register([a, b, self.leaves[1]], lambda grads: self.note(name, grads), mode=mode)
        if a.grad_fn is None:
            return None
        if place == "prehook":
            return a.grad_fn.register_prehook(self.on_node(name, how))
        return a.grad_fn.register_hook(self.on_node(name, how))

    def step(self, kind: str, name: str, how: str, i: int, j: int) -> None:
        L, pool = self.L, self.pool
        a, b = pool[i % len(pool)], pool[j % len(pool)]
        # PyTorch brings a view whose base was written to up to date when this is read, and a hook that is
        # registered on it before ends the process
        before = outcome(lambda: [a.grad_fn, b.grad_fn])
        if isinstance(before, tuple) and kind != "no_grad write":
            self.note("a view that is not the way", kind)
            return
        made: Any = None
        if kind == "op":
            made = OPS[name](L, a, b)
        elif kind == "view":
            made = SHAPED[name](a)
        elif kind.endswith("write"):
            if name == "masked_fill_" and 0 in a.stride():
                return  # PyTorch writes to one place several times
            b = b * 1  # what is read must not lie in the memory that is written to
            with L.set_grad_enabled(kind == "write"):
                WRITES[name](L, a, b)
        elif kind == "hook":
            made = self.register(name, how, a, b)
            if made is not None:
                self.handles.append(made)
            return
        elif kind == "remove" and self.handles:
            self.handles.pop(i % len(self.handles)).remove()
        elif kind == "backward":
            a.backward(
                L.ones_like(a.detach()),
                retain_graph=how != "none",
                create_graph=how == "double",
                inputs=self.leaves[:2] if how == "in place" else None,
            )
        elif kind == "grad":
            wanted = [t for t in (b, *self.leaves) if t.requires_grad]
            self.note(
                L.autograd.grad(
                    a,
                    wanted,
                    L.ones_like(a.detach()),
                    retain_graph=True,
                    create_graph=how == "double",
                    allow_unused=how != "error",
                )
            )
        elif kind == "forget":
            for leaf in self.leaves:
                leaf.grad = None
        if made is not None and made.numel() <= 16:
            pool.append(made)

    def look(self) -> None:
        for t in self.pool:
            fn = outcome(lambda t=t: t.grad_fn and t.grad_fn.name())
            self.note(
                t.detach(),
                fn if not isinstance(fn, tuple) else "error",
                t._version,
                t.retains_grad,
                t.requires_grad,
            )
        self.note([t.grad for t in self.leaves], [t.grad for t in self.pool if t.retains_grad])


def program_of(seed: int) -> Any:
    """A program as `assert_same_diary` runs it."""
    rng = random.Random(seed)
    learns = [True, rng.random() < 0.7, rng.random() < 0.7]
    names = {"op": [*OPS], "view": [*SHAPED], "write": [*WRITES], "no_grad write": [*WRITES], "hook": PLACES}
    steps = []
    for _ in range(rng.randrange(4, 16)):
        kind = rng.choices([*KINDS], [*KINDS.values()])[0]
        steps.append(
            (
                kind,
                rng.choice(names.get(kind, [""])),
                rng.choice(RETURNS),
                rng.randrange(50),
                rng.randrange(50),
            )
        )

    def program(L: Any, note: Any) -> None:
        session = Session(L, note, learns)
        for step in steps:
            result = outcome(session.step, *step)
            note(step[0], [result[0]] if isinstance(result, tuple) else None)
        session.look()
        last = session.pool[-1]
        fn = outcome(lambda: last.grad_fn)
        if not isinstance(fn, tuple) and last.requires_grad:
            for retain in (True, False):
                result = outcome(lambda r=retain: last.backward(L.ones_like(last.detach()), retain_graph=r))
                note("end", [result[0]] if isinstance(result, tuple) else None)
                session.look()

    return program
