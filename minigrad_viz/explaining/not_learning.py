"""Notes about training that changes nothing, or the wrong thing, although nothing fails."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model.grad_ledger import is_zero
from ..model.naming import plain_name
from ..model.scene import Scenes
from ..numbers import short
from ..protocol import Value
from ..trace.events import Created, Deposited, GradSet, Mutated
from ..trace.explained import Explanation
from ..trace.where import Span
from .lost import LISTED, Silent
from .optimizers import Optimizer, base_of_name, loop_of, optimizers_of, span_at
from .rewrite import quoted


def not_learning(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """What keeps the parameters of a cell from learning; nothing where a backward call failed."""
    calls = [call for call in scenes.index.calls.values() if call.started and call.started.kind == "backward"]
    if not calls or scenes.trace.error:
        return []
    last = calls[-1].started
    assert last is not None
    case = Silent(scenes, last.call, last.span, lang)
    return [*root_is_leaf(case), *kept_gradients(case), *idle_optimizers(case), *out_of_reach(case)]


def learners(case: Silent) -> set[str]:
    """The leaves that got a gradient in the cell, without those that were roots themselves."""
    started = (call.started for call in case.scene.index.calls.values())
    roots = {root for call in started if call is not None for root in call.roots}
    found = {event.tensor for event in case.trace.events if isinstance(event, Deposited)}
    return (found | {id for id, _ in case.trace.deposits}) - roots


def changed(case: Silent) -> set[str]:
    """The tensors whose values were changed by a write."""
    now: dict[str, Value | None] = {}
    found = set()
    for event in case.trace.events:
        if isinstance(event, Created):
            now[event.tensor.id] = event.tensor.value
        elif isinstance(event, Mutated):
            if now.get(event.before) != event.tensor.value:
                found.add(event.before)
            now[event.before] = event.tensor.value
    return found


def listed(case: Silent, ids: list[str]) -> str:
    """The names of tensors, not too many."""
    names = list(dict.fromkeys(plain_name(case.name(id)) for id in ids))
    return ", ".join(names[:LISTED]) + ", …" * (len(names) > LISTED)


# ── a root that leads nowhere ───────────────────────────────────────────────────────────────────────────────


def root_is_leaf(case: Silent) -> Iterator[Explanation]:
    """The root is itself a leaf that was made of numbers, and nothing else got a gradient."""
    assert case.started is not None
    roots = case.started.roots
    born = case.scene.index.births.get(roots[0]) if len(roots) == 1 else None
    others = {id for id in case.scene.at if case.scene.asks(id)} - {*roots}
    if not isinstance(born, Created) or born.span is None or not born.tensor.is_leaf:
        return
    if not others or learners(case):
        return
    values = {"root": case.name(roots[0]), "made": case.place(born.span)}
    why, fix = case.words("root_leaf_why", **values), case.words("root_leaf_fix", **values)
    yield case.explain("root_leaf", why, fix, case.card(roots[0], label=""), born.span)._replace(marks=())


# ── gradients of earlier rounds ─────────────────────────────────────────────────────────────────────────────


def kept_gradients(case: Silent) -> Iterator[Explanation]:
    """A gradient was added to that of an earlier round, although its tensor was updated in between and its
    gradient is never reset."""
    reset = {event.tensor for event in case.trace.events if isinstance(event, GradSet)}
    updated: set[str] = set()
    found: dict[str, Deposited] = {}
    for event in case.trace.events:
        if isinstance(event, Mutated):
            updated.add(event.before)
        elif isinstance(event, Deposited) and event.tensor not in reset:
            old = event.before
            if event.tensor in updated and old is not None and not is_zero(old) and not old.special:
                found[event.tensor] = event
            updated.discard(event.tensor)
    if not found:
        return
    id, last = next(iter(found.items()))
    span = case.scene.index.calls[last.call].started
    assert last.before is not None
    values = {
        "name": plain_name(case.name(id)),
        "call": case.place(None if span is None else span.span),
        "before": short(last.before, 24),
        "added": short(last.added, 24),
        "after": short(last.after, 24),
    }
    trained = [opt for opt in optimizers_of(case) if base_of_name(str(values["name"])) in opt.given]
    values["reset"] = f"{trained[0].name}.zero_grad()" if trained else f"{values['name']}.grad = None"
    where = None if span is None else span.span
    why, fix = case.words("kept_gradient_why", **values), case.words("kept_gradient_fix", **values)
    yield case.explain("kept_gradient", why, fix, (), where)._replace(call=0)


# ── an optimizer that changes nothing ───────────────────────────────────────────────────────────────────────


def idle_optimizers(case: Silent) -> Iterator[Explanation]:
    """The only optimizer of a cell takes steps, but no tensor that got a gradient was changed."""
    found, learning = optimizers_of(case), sorted(learners(case), key=lambda id: int(id[1:]))
    if len(found) != 1 or not learning or set(learning) & changed(case):
        return
    (opt,) = found
    names = [plain_name(case.name(id)) for id in learning]
    if not opt.given & {base_of_name(name) for name in names}:
        yield from other_parameters(case, opt, learning, names)
        return
    renewed = made_anew(case, opt, {base_of_name(name) for name in names})
    loop = loop_of(case, opt.name)
    if renewed is not None:
        values = {"opt": opt.name, "model": renewed.id, "line": renewed.lineno}
        why, fix = case.words("stale_optimizer_why", **values), case.words("stale_optimizer_fix", **values)
        yield case.explain("stale_optimizer", why, fix, (), span_at(case, opt.call))._replace(call=0)
    elif loop is not None and loop.backward is not None:
        step, back = span_at(case, loop.step), span_at(case, loop.backward)
        values = {"step": case.place(step), "backward": case.place(back), "names": listed(case, learning)}
        if loop.reset is not None and loop.backward.lineno < loop.reset.lineno < loop.step.lineno:
            reset = span_at(case, loop.reset)
            values["reset"] = case.place(reset)
            why = case.words("reset_too_early_why", **values)
            fix = case.words("reset_too_early_fix", **values)
            yield case.explain("reset_too_early", why, fix, (), reset)._replace(call=0)
        elif loop.step.lineno < loop.backward.lineno:
            why, fix = case.words("step_too_early_why", **values), case.words("step_too_early_fix", **values)
            yield case.explain("step_too_early", why, fix, (), step)._replace(call=0)


def other_parameters(
    case: Silent, opt: Optimizer, learning: list[str], names: list[str]
) -> Iterator[Explanation]:
    """The optimizer was given other parameters than those that get gradients."""
    span = span_at(case, opt.call)
    bases = dict.fromkeys((base_of_name(name), base_of_name(name) != name) for name in names)
    whole = [f"{base}.parameters()" if module else base for base, module in bases]
    single = len(whole) == 1 and whole[0].endswith(")")
    right = whole[0] if single else ", ".join(f"*{each}" if each.endswith(")") else each for each in whole)
    given = right if single else f"[{right}]"
    call = quoted(ast.unparse(opt.call).replace(ast.unparse(opt.call.args[0]), given, 1))
    values = {"opt": opt.name, "given": opt.parameters, "line": span.line, "names": listed(case, learning)}
    why = case.words("other_parameters_why", **values)
    fix = case.words("other_parameters_fix", opt=opt.name, call=call or given)
    yield case.explain("other_parameters", why, fix, (), span)._replace(call=0)


def made_anew(case: Silent, opt: Optimizer, bases: set[str]) -> ast.Name | None:
    """The variable of the model, if it was given another value after the optimizer was created."""
    for part in case.parts():
        if not isinstance(part, ast.Name) or not isinstance(part.ctx, ast.Store):
            continue
        if part.id in bases & opt.given and part.lineno > (opt.call.end_lineno or 0):
            return part
    return None


# ── parameters that no gradient reaches ─────────────────────────────────────────────────────────────────────


def out_of_reach(case: Silent) -> Iterator[Explanation]:
    """Parameters that an optimizer of the cell was given, and that no gradient reaches because their path was
    cut."""
    given = {name for opt in optimizers_of(case) for name in opt.given}
    learning, cuts = learners(case), dict[Span | None, list[str]]()
    for id, lost in case.lost.items() if given and case.complete else ():
        state = case.state(id)
        leaf = state is not None and state.is_leaf and state.requires_grad and id not in learning
        if leaf and lost.cut is not None and not lost.leaf and base_of_name(case.name(id)) in given:
            cuts.setdefault(lost.cut.span, []).append(id)
    for ids in cuts.values():
        lost = case.lost[ids[0]]
        assert lost.cut is not None and case.started is not None
        root = case.name(case.started.roots[0])
        values = {"names": listed(case, ids), "cut": case.place(lost.cut.span), "root": root}
        why = case.words("out_of_reach_why", **values)
        fix = case.words(FIXES.get(lost.cut.how, "out_of_reach_fix_numbers"), **values)
        marks = case.arrow(lost.source, lost.tensor, label=case.words("mark_cut"))
        yield case.explain("out_of_reach", why, fix, marks, lost.cut.span)


FIXES = {  # by what cut the path
    "detach": "out_of_reach_fix_detach",
    "data": "out_of_reach_fix_detach",
    "no_grad": "out_of_reach_fix_mode",
    "inference": "out_of_reach_fix_mode",
    "integer": "out_of_reach_fix_integer",
}
