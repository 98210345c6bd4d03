"""What happens inside a backward call, as events: reported by the library's observers, or by hooks on its
nodes where it has none.

Note [Spies]
    PyTorch calls the hooks of a tensor one after the other, in the order of their dictionary, and passes to
    each what the one before it returned. So for one backward call hooks of ours that only look are put
    between them. A single hook needs none: what was sent and what arrived show what it did.

Hooks of ours see what a node received and sent, not the hooks of the user. Those show in the difference
between what was sent to a node and what it received.
"""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
import weakref
from collections.abc import Iterable
from typing import Any

from ..isolation import pass_on
from ..protocol import Value, bare_name, hook_name, is_tensor, multi_hook, value_from, value_of, variable_of
from ..saved_values import packed_text
from ..snapshots import agree, sum_snapshots
from ..trace.events import (
    GradAccumulated,
    HookRan,
    Inside,
    NodeState,
    Recomputation,
    SavedPacked,
    SavedUnpacked,
)
from ..trace.notes import NodeNote
from .states import States
from .tape import Tape, observer_method

# ─── What saved-tensor hooks make of saved values, and what a checkpoint computes again


class Packing:
    """The part of a recorder that receives packing, unpacking and recomputation of saved tensors."""

    def __init__(self, tape: Tape) -> None:
        self.tape, self.ids, self.notes = tape, tape.ids, tape.notes
        self._ops: list[Inside] = []  # what they have computed

    @observer_method
    def packed(self, node: Any, name: str, tensor: Any, kept: Any) -> None:
        """A hook packed what `node` saves as `name`; a checkpoint does so for itself as it computes."""
        if not self.tape.again and self.tape.depth < 2:
            told = self.ids.node(node), saved_name(name), value_of(tensor), packed_text(kept)
            self.notes.append(SavedPacked(self.tape.call, *told))

    @observer_method
    def unpacked(self, node: Any, name: str, kept: Any, tensor: Any) -> None:
        """A saved tensor was unpacked. If a checkpoint had to compute it, that is reported first."""
        if self.tape.again or self.tape.depth > 1:
            return
        key = self.ids.node(node)
        self.told_again(key)
        value = value_of(tensor) if is_tensor(tensor) else None
        self.notes.append(SavedUnpacked(self.tape.call, key, saved_name(name), packed_text(kept), value))

    def recomputed(self, started: bool) -> None:
        """A checkpoint begins to run its function again, or ends."""
        self.tape.again += 1 if started else -1

    @observer_method
    def ran_again(self, title: str, inputs: list[Any], result: Any) -> None:
        """An op ran in such a function."""
        if is_tensor(result) and self.tape.depth < 2:
            self._ops.append(self.tape.inside_op("", title, inputs, result, self.tape.here()))

    def told_again(self, key: str) -> None:
        """Tell what was computed again for a node, if anything was."""
        if self._ops:
            ops = tuple(op._replace(node=key) for op in self._ops)
            self._ops = []
            self.notes.append(Recomputation(self.tape.call, key, ops))


def saved_name(name: str) -> str:
    """A saved value's name as `kept.saved_of` has it: that of a custom Function is its number."""
    return f"saved[{name}]" if name.isdigit() else name


# ─── What each of several hooks on a tensor saw and made of it, in a library that does not tell


NEVER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR  # calling it gives something


class Spies:
    """Stand between the `hooks` of a tensor. `tell(hook, gradient, other)` is called after each of them (and
    before the first, with None for a hook): what is there now, and whether that is another tensor."""

    def __init__(self, hooks: dict[Any, Any], tell: Any) -> None:
        self.hooks, self.tell = hooks, tell
        self.given: Any = None  # what the next hook is handed
        own = [(None, None), *hooks.items()]
        hooks.clear()
        for i, (id, hook) in enumerate(own):
            if i:
                hooks[id] = hook
            hooks[self, i] = functools.partial(self.look, hook, i == len(own) - 1)
        self.keys = [(self, i) for i in range(len(own))]

    def look(self, hook: Any, last: bool, gradient: Any) -> None:
        """After a hook."""
        self.tell(hook, gradient, gradient is not self.given)
        self.given = None if last else gradient

    def remove(self) -> None:
        """Remove them; a hook may have removed itself meanwhile, or registered others."""
        for key in self.keys:
            self.hooks.pop(key, None)
        self.given = None


def may_return(hook: Any) -> bool | None:
    """Whether a hook returns anything, as far as its code tells: False if it only can return None."""
    if hook is print or (isinstance(getattr(hook, "__self__", None), list) and hook.__name__ == "append"):
        return False
    code = getattr(getattr(hook, "__func__", hook), "__code__", None)
    if code is None or code.co_flags & NEVER:
        return None
    steps = list(dis.get_instructions(code))
    consts = [step.argval for step in steps if step.opname == "RETURN_CONST"]
    before = [a for a, b in itertools.pairwise(steps) if b.opname == "RETURN_VALUE"]
    none = all(value is None for value in consts) and all(
        step.opname == "LOAD_CONST" and step.argval is None for step in before
    )
    return False if none else None


# ─── What happens inside a backward call, as events


class Listener:
    """The part of a recorder that listens to nodes."""

    def __init__(self, tape: Tape, states: States, packing: Packing) -> None:
        self.tape, self.states, self.packing = tape, states, packing
        self.ids, self.notes = tape.ids, tape.notes
        self._handles: list[Any] = []
        self.ran: set[Any] = set()  # the keys of the nodes that ran in the call
        self._before: dict[str, Any] = {}  # a leaf's gradient just before the deposit, as it was taken
        self._sent: dict[tuple[Any, int], list[Sent]] = {}  # to each output of a node
        self._pending: list[HookRan | None] = []  # the hooks that run, one inside another
        self._came: dict[str, tuple[Value | None, ...]] = {}  # the gradient itself, where it may change then
        self._spies: list[Spies] = []
        self._spied: dict[str, Value | None] = {}  # what the hooks of a node's first output have left

    # ── told by observers ───────────────────────────────────────────────────────────────────────────────────

    @observer_method
    def hook_starts(self, node: Any, kind: str, hook: Any, index: int, gradients: Any) -> None:
        """A hook is about to be called with `gradients`, which it may replace."""
        if self.tape.depth == 1:
            kind, name = hook_kind(kind, hook)
            if kind == "multi" and self._pending:
                self._pending[-1] = None  # the part at the last tensor calls the hook itself
            ran = self.tape.call, self.ids.node(node), kind, name, index
            self._pending.append(HookRan(*ran, values_of(gradients), ()))

    @observer_method
    def hook_ended(self, gradients: Any, gave: bool) -> None:
        """It returned something (`gave`) or None, and `gradients` are there now."""
        told = self._pending.pop() if self.tape.depth == 1 and self._pending else None
        if told is not None:
            self.notes.append(told._replace(after=values_of(gradients), gave=gave))

    # ── heard by hooks ──────────────────────────────────────────────────────────────────────────────────────

    def listen(self, live: Iterable[Any], states: Iterable[NodeState], starts: Iterable[Any]) -> None:
        """Put hooks on the nodes of a call, whose states are given; it begins with gradients for outputs of
        some (`starts`)."""
        self._sent, self.ran = {}, set()
        for node, nr, gradient in starts:
            if gradient is not None:
                sent = self.tape.taken(gradient), *memory_and_version(gradient)
                self._sent.setdefault((self.ids.key(node), nr), []).append(sent)
        for node, state in zip(live, states, strict=True):
            key = state.id  # of nodes of PyTorch the key as well
            if state.variable is not None:
                variable = variable_of(node)
                leaf = weakref.ref(variable)
                self._spy(key, variable)
                before = functools.partial(self._about_to_deposit, key, leaf)
                self._handles.append(node.register_prehook(before))
                self._handles.append(node.register_hook(functools.partial(self._deposited, key, leaf)))
            else:
                made = self.ids.references.get(self.ids.outputs.get(key, ""))
                if made is not None:
                    self._spy(key, made())
                ran = functools.partial(self._ran, key, state.edges, made)
                self._handles.append(node.register_hook(ran))

    def _spy(self, key: str, tensor: Any) -> None:
        """Look between the hooks of a tensor, if it has several."""
        hooks = getattr(tensor, "_backward_hooks", None)
        if hooks and len(hooks) > 1:
            self._spies.append(Spies(hooks, functools.partial(self._looked, key)))

    def stop(self) -> None:
        """Remove every hook."""
        for handle in (*self._handles, *self._spies):
            handle.remove()
        self._handles, self._before, self._sent, self._pending = [], {}, {}, []
        self._spies, self._spied, self._came = [], {}, {}

    @observer_method
    def _looked(self, key: str, hook: Any, gradient: Any, other: bool) -> None:
        """One of several hooks ran (None: the first will), and left `gradient`."""
        if self.tape.depth != 1:
            return
        before = self._spied.get(key)
        after = self._spied[key] = None if gradient is None else value_of(gradient)
        if hook is not None:
            gave = True if other else may_return(hook)
            ran = self.tape.call, key, *hook_kind("tensor", hook), 0
            self.notes.append(HookRan(*ran, (before,), (after,), gave))

    @observer_method
    def _about_to_deposit(self, key: str, leaf: Any, received: Any) -> None:
        """The pre-hook of an AccumulateGrad."""
        tensor = leaf()
        grad = None if tensor is None else tensor.grad
        self._before[key] = None if grad is None else self.tape.taken(grad)
        if getattr(tensor, "_post_accumulate_grad_hooks", None):
            self._came[key] = values_of(received)  # which may become `.grad` itself, that these hooks change

    @observer_method
    def _deposited(self, key: str, leaf: Any, sent: Any, received: Any) -> None:
        """The post-hook of an AccumulateGrad."""
        if self.tape.depth != 1:
            return
        tensor, call, came = leaf(), self.tape.call, self._came.pop(key, None)
        (added,), changed = self._received(key, received, tensor, came)
        self.notes.append(NodeNote(call, key, added, changed=changed))
        late = getattr(tensor, "_post_accumulate_grad_hooks", None)
        grad = None if tensor is None else tensor.grad
        if tensor is None or added is None or (grad is None and not late):
            return
        before, name = self._before.get(key), self.states.id_of(tensor)
        stands: Any = None
        if grad is not None:
            stands = added if before is None and not late else self.tape.taken(grad)
            self.tape.large.hold(grad)
            self.states.owners.hold(name, grad, stands)
        if not late:
            self.notes.append(GradAccumulated(call, key, name, before, added, stands))
            return
        added, seen = snapshot(added), stands if stands is None else snapshot(stands)
        after = self._total(None if before is None else snapshot(before), added, seen)
        self.notes.append(GradAccumulated(call, key, name, before, added, after))
        told = "post_accumulate", only_hook(late)[1], 0, (after,), (seen,), False  # it must return None
        self.notes.append(HookRan(call, key, *told))

    def _total(self, before: Value | None, added: Value, seen: Value | None) -> Value:
        """What a deposit made, although the leaf's hooks may have changed it since, to what is `seen`."""
        total = added if before is None else sum_snapshots([before, added])
        if total is None:  # too many numbers to add up here
            return seen or added._replace(items=None, low=None, high=None)
        return total if seen is None or not agree(total, seen) else seen

    def before_late_hooks(self, key: str) -> Value | None:
        """The gradient that the first of a leaf's hooks after the deposit saw in this call."""
        found = None
        for note in reversed(self.notes):
            if isinstance(note, HookRan) and (note.call, note.node) == (self.tape.call, key):
                found = note.before[0] if note.kind == "post_accumulate" else found
            elif not isinstance(note, HookRan):
                break
        return found

    @observer_method
    def _ran(self, key: str, edges: tuple[Any, ...], made: Any, sent: Any, received: Any) -> None:
        """The post-hook of every other node."""
        if self.tape.depth != 1:
            return
        self.ran.add(key)
        if key in self.states.contracted:  # what leaves the others, nobody hears
            edges, sent = (), (None,) * len(edges)
        tensor, on_the_way = None if made is None else made(), self._sent
        got, changed = None, ()
        if len(received) == 1 and not getattr(tensor, "_backward_hooks", None) and key not in self._spied:
            parts = on_the_way.get((key, 0), ())  # as nearly always: one gradient, from one place
            if (
                len(parts) == 1
                and received[0] is not None
                and parts[0][1:] == memory_and_version(received[0])
            ):
                del on_the_way[key, 0]
                got = (parts[0][0],)
        if got is None:
            got, changed = self._received(key, received, tensor)
        values = self.note_run(key, got, sent, changed)
        for edge, gradient, taken in zip(edges, sent, values, strict=False):
            if edge is not None and gradient is not None:
                on_the_way.setdefault(edge, []).append((taken, *memory_and_version(gradient)))

    def note_run(self, key: str, got: tuple[Any, ...], sent: Any, changed: Any = ()) -> tuple[Any, ...]:
        """Note that a node received `got`, perhaps `changed` on the way, and sent some gradients, after what
        was computed again for it; what was taken of these."""
        self.packing.told_again(key)
        take = self.tape.taken
        values = tuple([None if g is None else take(g) for g in sent])
        ids = None
        if self.tape.creates:
            ids = tuple(
                self.states.id_of(g) if g is not None and g.grad_fn is not None else None for g in sent
            )
        received = got[0] if len(got) == 1 else got
        self.notes.append(NodeNote(self.tape.call, key, received, values, ids, changed))
        return values

    def _received(self, key: str, received: Any, tensor: Any, came: Any = None) -> tuple[Any, Any]:
        """What was taken of the gradients that a node received (`came`, if they were read before it ran).
        Reports the user's hooks that ran first, those on its first output `tensor`. A gradient that is the
        same unchanged object that was sent is not read again. Whether hooks that nobody knows have changed
        another one is found when the note is read: for that, its number, what was sent and what came."""
        hooks = getattr(tensor, "_backward_hooks", None)
        got: list[Any] = []
        changed: list[tuple[int, tuple[Any, ...], Any]] = []
        for nr, gradient in enumerate(received):
            sent = self._sent.pop((key, nr), ())
            watched = nr == 0 and (hooks or key in self._spied)
            if gradient is None:
                got.append(None)
            elif len(sent) == 1 and not watched and sent[0][1:] == memory_and_version(gradient):
                got.append(sent[0][0])
            else:
                after = self.tape.taken(gradient) if came is None else came[nr]
                got.append(after)
                parts = tuple([taken for taken, *_ in sent])
                if watched:
                    self._hooked(key, sum_snapshots(list(map(snapshot, parts))), snapshot(after), hooks)
                elif parts:
                    changed.append((nr, parts, after))
        return tuple(got), tuple(changed)

    def _hooked(self, key: str, before: Value | None, after: Value, hooks: Any) -> None:
        """Tell of the hooks on the first output of a node that made `after` of the gradient `before`, which
        was sent."""
        kind, name = only_hook(hooks)
        if key in self._spied:  # these hooks were reported one by one; one was the node's
            before, hooks, kind, name = self._spied.pop(key), None, "pre", ""
        if before is None:
            return
        gave = may_return(next(iter(hooks.values()))) if hooks and len(hooks) == 1 else None
        if not agree(before, after):
            event = HookRan(self.tape.call, key, kind, name, 0, (before,), (after,), gave)
        elif hooks:
            event = HookRan(self.tape.call, key, kind, name, 0, (after,), (after,), gave)
        else:
            return
        at = len(self.notes)
        while isinstance(self.notes[at - 1], Inside) and self.notes[at - 1].node == key:
            at -= 1  # a custom Function has run by now, and hooks come first
        self.notes.insert(at, event)


Sent = tuple[Any, ...]  # what was taken of a gradient, and what `memory_and_version` says of it


def memory_and_version(gradient: Any) -> tuple[Any, ...]:
    """What tells a gradient that is on its way, and whether it was written to. No two complex ones, which may
    be conjugated views, are the same."""
    try:
        same = object() if gradient.dtype.is_complex else gradient.data_ptr()
        return same, gradient._version, gradient.stride()
    except (RuntimeError, AttributeError) as refused:  # sparse, or wrapped by a transform
        pass_on(refused)
        return (object(),)


def snapshot(taken: Any) -> Value:
    """The `Value` of what was taken."""
    return taken if taken.__class__ is Value else value_from(taken, bare_name(taken.dtype))


def values_of(gradients: Iterable[Any]) -> tuple[Value | None, ...]:
    """Snapshots of gradients."""
    return tuple(None if g is None else value_of(g) for g in gradients)


def hook_kind(kind: str, hook: Any) -> tuple[str, str]:
    """The kind of a hook and its name; those of a multi-grad hook for what it has at each of its tensors."""
    whole = multi_hook(hook) if kind == "tensor" else None
    return (kind, hook_name(hook)) if whole is None else ("multi", hook_name(whole))


def only_hook(hooks: Any) -> tuple[str, str]:
    """The kind and the name of the only one of a tensor's hooks; no name if it is not the only one."""
    if not hooks or len(hooks) != 1:
        return "tensor", ""
    (hook,) = hooks.values()
    kind, name = hook_kind("tensor", hook)
    return kind, name if isinstance(getattr(hook, "__name__", None), str) else ""
