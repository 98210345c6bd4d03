"""Backward calls: the loss, and the graph that it has at sampled steps."""

from __future__ import annotations

import gc
import math
import re
import weakref
from array import array
from collections.abc import Callable
from typing import Any

from ..training_faults.evidence import Cut, LossFacts, NotFinite, OpRecord, ParameterFacts, Place
from .graphs import Graph, through_views
from .hub import Listener, user_frame, user_place
from .naming import line_with, variable_of
from .ops import beyond, cuts_of

MOST_HOOKS = 2000  # AccumulateGrad nodes of one call that are watched
MOST_LOSSES = 1_000_000  # of a line with a backward call: 8 bytes each


class LossSeries:
    """The losses of the backward calls of a line. Those on a device wait there until they are read."""

    def __init__(self) -> None:
        self.values = array("d")
        self.waiting: list[tuple[int, Any]] = []

    def add(self, loss: Any, waits: bool) -> None:
        """Append a loss, a number or a tensor that waits. Of too many every second one goes."""
        if len(self.values) >= MOST_LOSSES and not self.waiting:
            del self.values[1000:-1000:2]
        if waits:
            self.waiting.append((len(self.values), loss))
        self.values.append(math.nan if waits else loss)

    def read(self, floats: Callable[[list[Any]], list[float]]) -> None:
        """Read those that wait, at once."""
        for (index, _), value in zip(self.waiting, floats([loss for _, loss in self.waiting])):
            self.values[index] = value
        self.waiting.clear()


class BackwardCalls(Listener):
    """Watches backward calls."""

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self.depth = 0  # calls inside calls
        self.losses: dict[Place | None, LossSeries] = {}
        self.latest: dict[Place | None, float] = {}
        self.roots: list[tuple[int, weakref.ref[Any]]] = []
        self.templates: dict[Any, list[tuple[str, Place | None]]] = {}  # ops with lines, of traced steps
        self.suspect: NotFinite | None = None
        self._hooks: list[Any] = []

    def before_backward(self, args: Any, kwargs: Any) -> None:
        self.depth += 1
        if self.depth > 1:
            return
        given = args[0] if args else kwargs.get("tensors")
        root = given[0] if isinstance(given, list | tuple) and given else given
        if not self.library.is_tensor(root):
            return
        evidence, place = self.evidence, user_place()
        if self.run.modules.evaluating_now:
            self.run.modules.end_evaluation()
        evidence.library = evidence.library or self.library.name
        evidence.backwards += 1
        evidence.backward_place = place
        step = evidence.steps + 1
        made = self.run.trace.of(root)
        if not root.requires_grad:
            self._rootless(made, place)
            return
        value = self._note_loss(root, place)
        if self.run.tracing:
            self.run.trace.rooted(root)
        bad = value is not None and not math.isfinite(value)
        if bad and not evidence.not_finite_loss:
            evidence.not_finite_loss = step
        for _, _, state in self.run.optimizers.known.values():
            state.since.append("backward")
            if self.run.sampled and state.consumed:
                used = self.run.optimizers.has_gradient(state.probes)
                state.mixed = state.mixed or used
                state.consumed = used
            state.place = place
        if made is not None:
            self._note_cuts(made, place)
            self._note_broadcasts(made)
        if root.grad_fn is None:
            return
        if self.run.sampled or (bad and evidence.not_finite is None):
            self._read_graph(root, place, step, bad)

    def after_backward(self, args: Any, kwargs: Any, result: Any) -> None:
        self.depth -= 1
        if not self.depth:
            self._read_arrivals()
        if not self.depth and self.run.optimizers.by_backward:
            self.evidence.steps += 1
            self.run.between_rounds()

    def failed_backward(self, error: BaseException) -> None:
        self.depth = max(0, self.depth - 1)
        self.unhook()

    def _hook(self, graph: Graph) -> None:
        """Watch what arrives at the AccumulateGrad nodes of a graph, in this call alone."""
        for node, leaf in graph.accumulators[:MOST_HOOKS]:
            if self.library.is_tensor(leaf):
                self._hooks.append(node.register_hook(self._arrival(self.run.facts_of(leaf))))

    def _arrival(self, facts: ParameterFacts) -> Callable[[Any, Any], None]:
        def arrived(_: Any, gradients: Any) -> None:
            if gradients and gradients[0] is not None:
                self.guarded(self.run.measures.arrived, facts, gradients[0])

        return arrived

    def unhook(self) -> None:
        """Take the hooks of this call away."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    def _read_arrivals(self) -> None:
        if not self._hooks:
            return
        self.unhook()
        step = self.evidence.steps + 1
        with self.library.quiet():
            first = self.run.measures.read_arrivals(step, self.run.optimizers.held())
        if first is not None and self.evidence.not_finite is None and not self.evidence.not_finite_loss:
            place = self.evidence.backward_place
            self.evidence.not_finite = self.suspect or NotFinite(step, "gradient", "", first.name, place, "")

    def _note_loss(self, root: Any, place: Place | None) -> float | None:
        """The loss; None where reading it would make a GPU wait."""
        series = self.losses.setdefault(place, LossSeries())
        if root.numel() != 1:
            return None
        device = getattr(root.device, "type", "cpu")
        if device == "cpu":
            value = float(root.detach().item())
            series.add(value, waits=False)
            before = self.latest.get(place)
            if before is not None and abs(value) > 10 * abs(before) + 1 and not self.run.sampled:
                self.run.sampled_parameters = True  # a jump: look at this step
            self.latest[place] = value
            return value
        series.add(root.detach(), waits=True)
        if self.run.sampled:
            self.read_losses()
            return series.values[-1]
        return None

    def read_losses(self) -> None:
        """Read losses that are still on a device."""
        for series in self.losses.values():
            series.read(self.library.floats)

    def chosen_losses(self, name: str) -> list[float]:
        """The losses of the backward call on the variable of that name; without a name, of the one that ran
        most often."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        named = [each for at, each in self.losses.items() if name and at and word.search(at.text)]
        chosen = max(named or self.losses.values(), key=lambda each: len(each.values), default=LossSeries())
        return chosen.values.tolist()

    def _rootless(self, made: OpRecord | None, place: Place | None) -> None:
        cuts = cuts_of(made) if made is not None else []
        if cuts:
            nearest = cuts[0]
            self.evidence.rootless = (place, nearest.cut, nearest.place)
        else:
            frozen = self.evidence.frozen_place
            self.evidence.rootless = (place, "frozen" if frozen else "data", frozen)

    def _note_cuts(self, made: OpRecord, place: Place | None) -> None:
        evidence = self.evidence
        for cut in cuts_of(made)[:50]:
            found = Cut(cut.cut, cut.place, beyond(cut), place)
            if found.beyond and found not in evidence.cuts and len(evidence.cuts) < 200:
                evidence.cuts.append(found)

    def _note_broadcasts(self, made: OpRecord) -> None:
        reached = {id(each) for each in made.upstream()} if self.run.trace.broadcasts else set()
        for each in self.run.trace.broadcasts:
            if id(each) in reached and each.spread is not None:
                row = (each.place, *each.spread)
                if row not in self.evidence.broadcasts:
                    self.evidence.broadcasts.append(row)

    def _read_graph(self, root: Any, place: Place | None, step: int, bad: bool) -> None:
        evidence, library = self.evidence, self.library
        with library.quiet():
            lines = self.run.trace.lines if self.run.tracing else []
            graph = Graph(library, root.grad_fn, self.run.modules.calls, lines)
            ops = [op for _, op, _ in graph.nodes]
            if self.run.tracing:
                self.templates[place] = [(op, graph.line_of(number)) for number, op, _ in graph.nodes]
            elif [op for op, _ in self.templates.get(place, ())] == ops:
                known = [(n, line) for (n, _, _), (_, line) in zip(graph.nodes, self.templates[place])]
                graph.take_lines(known)
            reached = set()
            for key, leaf in graph.leaves.items():
                if leaf is root:
                    continue
                self.run.facts_of(leaf).reached += 1
                reached.add(key)
            evidence.reached_by.setdefault(place, set()).update(reached)
            self._loss_facts(graph, root, place)
            graph.activations(evidence, step, through_views_of_loss(graph, root))
            if len(evidence.graph_sizes) < 64:
                evidence.graph_sizes.append((step, len(graph.nodes)))
            if bad and evidence.not_finite is None:
                evidence.not_finite = self._first(graph, step)
            self.suspect = graph.infinite_slopes(step)
            self.run.measures.loose(self.run, graph.leaves, self.run.optimizers.held(), step)
            self._hook(graph)
        if len(self.roots) < 40:
            self.roots.append((step, weakref.ref(root)))

    def _first(self, graph: Graph, step: int) -> NotFinite:
        if self.run.batches.suspect_input is not None:
            name, when = self.run.batches.suspect_input
            return NotFinite(when, "input", "", name, self.evidence.input_place, "")
        return graph.first_not_finite(step, {key: self.evidence.name(key) for key in graph.leaves})

    def _loss_facts(self, graph: Graph, root: Any, place: Place | None) -> None:
        facts = graph.loss(root.grad_fn)
        known = self.evidence.loss.get(place)
        if known is None:
            facts.place = place
            self.evidence.loss[place] = facts
            return
        merge(known, facts)

    def look_for_kept(self) -> None:
        """Losses of earlier steps that are still alive, with their graphs, and what keeps them."""
        alive = [ref() for step, ref in self.roots if step < self.evidence.steps - 1]
        held = [each for each in alive if each is not None and each.grad_fn is not None]
        if len(held) < 5 or len(held) < 0.8 * len(alive):
            return
        self.evidence.kept_losses = len(held)
        for owner in gc.get_referrers(held[0]):
            if (
                isinstance(owner, list)
                and owner is not held
                and owner is not alive
                and len(owner) >= len(held)
            ):
                frame = user_frame()
                name = variable_of(frame, owner)
                file = self.evidence.backward_place.file if self.evidence.backward_place else ""
                if name and file:
                    self.evidence.kept_place = line_with(file, rf"\b{re.escape(name)}\s*(\.append|\+=)")
                elif file:
                    self.evidence.kept_place = line_with(file, r"\.append\(\s*loss\s*\)")


def through_views_of_loss(graph: Graph, root: Any) -> Any:
    """The node whose result the loss function got."""
    node = root.grad_fn
    return through_views(node) if node is not None else None


def merge(known: LossFacts, new: LossFacts) -> None:
    """Add what a later call of the same line has shown."""
    known.targets |= new.targets
    known.raw_scores = known.raw_scores or new.raw_scores
    known.negative_targets = known.negative_targets or new.negative_targets
    known.before_zeros = min(known.before_zeros, new.before_zeros) if new.before == known.before else 0.0
    if new.before != known.before or new.negated != known.negated:
        known.negated = known.negated and new.negated
    known.before_place = known.before_place or new.before_place
    if len(known.targets) > 3:
        known.targets = set(sorted(known.targets)[:4])
