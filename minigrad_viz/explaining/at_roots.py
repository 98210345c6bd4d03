"""Errors about the roots of a backward call, and about the gradients that it starts with."""

from __future__ import annotations

import ast
import re

from ..model.births import sources_of
from ..trace.events import Asked, Created, TensorState
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .case import Case, ErrorRule, rule
from .edits import created_so
from .history import Cut, cut_before
from .rebound import named, rebound, why_and_fix
from .subject import Subject, called, expression, flat, raised_by_hand, standing
from .ungraphed import of_gradient

LISTED = 4  # names that are listed in a sentence
NO_GRAD_FN = {  # why and fix, by what cut the path
    "detach": ("no_grad_fn_why_detach", "no_grad_fn_fix_detach"),
    "data": ("no_grad_fn_why_detach", "no_grad_fn_fix_data"),
    "no_grad": ("no_grad_fn_why_no_grad", "no_grad_fn_fix_no_grad"),
    "inference": ("no_grad_fn_why_inference", "no_grad_fn_fix_inference"),
    "numpy": ("no_grad_fn_why_numpy", "no_grad_fn_fix_numpy"),
    "item": ("no_grad_fn_why_item", "no_grad_fn_fix_item"),
    "tensor": ("no_grad_fn_why_tensor", "no_grad_fn_fix_tensor"),
    "integer": ("no_grad_fn_why_integer", "no_grad_fn_fix_integer"),
}


# ── the root has no graph ───────────────────────────────────────────────────────────────────────────────────


def no_grad_fn(case: Case, match: re.Match[str]) -> Explanation | None:
    """The root leads nowhere: where its path was cut."""
    i = int(match[1])
    if case.started is None or i >= len(case.started.roots):
        return None
    root = case.started.roots[i]
    if case.scene.asks(root):
        return None
    values = {"root": case.name(root), "call": case.place(case.span)}
    cut = cut_before(case, root)
    marks = case.card(root, label=case.words("mark_no_graph"))
    if cut is None or cut.how == "made":
        return of_gradient(case, root) or made_of_data(case, root, values, cut)
    values |= {"cut": case.place(cut.span), "source": case.name(cut.source or root)}
    label = case.words("mark_cut")
    marks += case.arrow(cut.source or root, cut.tensor, CAUSE, label) or case.card(cut.tensor, CAUSE, label)
    lost = rebound(case, root)
    if lost is not None and lost.update and cut.span is not None and lost.span.line == cut.span.line:
        why = case.words("rebound_cut_why", **values | named(lost))
        return case.explain("no_grad_fn", why, why_and_fix(case, lost)[1], marks, lost.span)
    why, fix = (case.words(key, **values) for key in NO_GRAD_FN[cut.how])
    fix = f"{fix} {case.words('no_grad_fn_no_flag', **values)}"
    return case.explain("no_grad_fn", why, fix, marks, cut.span)


def made_of_data(case: Case, root: str, values: dict[str, str], cut: Cut | None) -> Explanation:
    """Nothing that the root was computed from asks for gradients, or that is not known."""
    marks = case.card(root, label=case.words("mark_no_graph"))
    if cut is not None:
        why = case.words("no_grad_fn_why_made", made=case.place(cut.span), **values)
        return case.explain("no_grad_fn", why, case.words("no_grad_fn_fix_made", **values), marks, cut.span)
    sources, asked = origins(case, root), asked_later(case, root)
    if asked is not None:
        values |= {"source": case.name(asked.tensor.id), "asked": case.place(asked.span)}
        why, fix = case.words("no_grad_fn_why_later", **values), case.words("no_grad_fn_fix_later", **values)
        label = case.words("mark_asked_later")
        return case.explain(
            "no_grad_fn", why, fix, marks + case.card(asked.tensor.id, CAUSE, label), asked.span
        )
    if sources is None or sources == [root]:  # in the latter case it was brought along
        return case.explain("no_grad_fn", case.words("no_grad_fn_why_unknown", **values), "", marks)
    named = [id for id in sources if id in case.scene.named]
    names = ", ".join(case.name(id) for id in named)
    several = 0 < len(named) <= LISTED
    values["names"] = names
    why = case.words("no_grad_fn_why_asks" if several else "no_grad_fn_why_nothing", **values)
    fix = case.words("no_grad_fn_fix_asks" if several else "no_grad_fn_fix_made", **values)
    label = case.words("legend_constant")
    for id in named if several else ():
        marks += case.card(id, CAUSE, label)
    made = asking(case, named)
    fix = fix if made is None else made
    births_of = case.scene.index.births
    spans = [births_of[id].span for id in named[:1] if id in births_of]
    return case.explain("no_grad_fn", why, fix, marks, spans[0] if spans and len(named) == 1 else None)


def asking(case: Case, sources: list[str]) -> str | None:
    """What to do if gradients of some sources are read later, or if there is only one: create them so that
    they require gradients; None where that cannot be quoted."""
    read = {ast.unparse(p.value) for p in case.parts() if isinstance(p, ast.Attribute) and p.attr == "grad"}
    meant = [id for id in sources if case.scene.named[id] in read] or (sources if len(sources) == 1 else [])
    return created_so(case, meant[:LISTED])


def asked_later(case: Case, root: str) -> Asked | None:
    """Where the cell asked for gradients of what the root had been computed from already."""
    born = case.scene.index.births
    behind = sources_of(born, root)
    times = case.scene.index.times
    made = times.get(id(born.get(root)), 0)
    asked = [
        e for e in case.before if isinstance(e, Asked) and e.tensor.id in behind and e.tensor.requires_grad
    ]
    return asked[0] if len(asked) == 1 and times[id(asked[0])] > made and asked[0].tensor.id != root else None


def origins(case: Case, root: str) -> list[str] | None:
    """The tensors made from data that a root was computed from, none of which asks for gradients; None if
    that is not certain."""
    born = case.scene.index.births
    behind = sorted(sources_of(born, root), key=lambda id: int(id[1:]))
    if any(id not in born or case.scene.asks(id) for id in behind):
        return None
    return [id for id in behind if isinstance(born[id], Created)]


# ── the gradient that backward starts with ──────────────────────────────────────────────────────────────────


def implicit_gradient(case: Case, match: re.Match[str]) -> Explanation | None:
    """A root of several elements, and no gradient for it."""
    if case.failed is None or raised_by_hand(case):
        return None
    call, roots, _ = backward_of(case)
    guilty = [each for each in roots if each.state.value is not None and each.state.value.size != 1]
    if not guilty:
        return case.explain("implicit_gradient")
    root = guilty[0]
    values = {"root": root.text, "called": called(root.text), "shape": shape_of(root.state)}
    why = case.words("implicit_gradient_why", **values)
    fix = "implicit_gradient_fix_grad" if call == "grad" else "implicit_gradient_fix_backward"
    marks = case.card(root.id, label=case.words("mark_shape", shape=values["shape"]))
    return case.explain("implicit_gradient", why, case.words(fix, **values), marks)


def gradient_shape(case: Case, match: re.Match[str]) -> Explanation | None:
    """A gradient of another shape than its root."""
    if case.failed is None or raised_by_hand(case):
        return None
    _, roots, gradients = backward_of(case)
    given, wanted = shape_in(match["given"]), shape_in(match["wanted"])
    found = [each for each in roots if shape_of(each.state) == wanted]
    values = {"given": given, "wanted": wanted, "root": found[0].text if found else "output"}
    if len(found) != 1:
        return case.explain("gradient_shape", case.words("gradient_shape_why_some", **values))
    marks = case.card(found[0].id, label=case.words("mark_shape", shape=wanted))
    wrong = [each for each in gradients if shape_of(each.state) == given]
    if len(wrong) == 1:
        marks += case.card(wrong[0].id, CAUSE, case.words("mark_shape", shape=given))
    why, fix = case.words("gradient_shape_why", **values), case.words("gradient_shape_fix", **values)
    return case.explain("gradient_shape", why, fix, marks)


def backward_of(case: Case) -> tuple[str, list[Subject], list[Subject]]:
    """The failing call: "backward" or "grad", its roots and the gradients that were given for them, as far as
    they are known."""
    node = expression(case)
    if not isinstance(node, ast.Call):
        return "backward", [], []
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "grad":
        roots = named.get("outputs") or (node.args[0] if node.args else None)
        given = named.get("grad_outputs") or (node.args[2] if len(node.args) > 2 else None)
    elif isinstance(node.func, ast.Attribute) and not is_module(node.func.value):
        roots = node.func.value
        given = named.get("gradient") or (node.args[0] if node.args else None)
    else:  # torch.autograd.backward
        roots = named.get("tensors") or (node.args[0] if node.args else None)
        given = named.get("grad_tensors") or (node.args[1] if len(node.args) > 1 else None)
    kind = "grad" if name == "grad" else "backward"
    return kind, subjects(case, roots), subjects(case, given)


def is_module(node: ast.expr) -> bool:
    """Whether `node.backward` is a function and no method."""
    return ast.unparse(node).rpartition(".")[2] == "autograd"


def subjects(case: Case, node: ast.expr | None) -> list[Subject]:
    """The tensors that stand there, as far as they are known."""
    texts = [ast.unparse(part) for part in flat(node)]
    return [Subject(text, state) for text in texts if (state := standing(case, text)) is not None]


def shape_of(state: TensorState) -> str:
    """A tensor's shape in words: `(3,)`."""
    return "" if state.value is None else str(tuple(state.value.shape))


def shape_in(sizes: str) -> str:
    """The same from the sizes in an error."""
    return str(tuple(int(n) for n in re.findall(r"\d+", sizes)))


RULES: dict[str, ErrorRule] = {
    "no_grad_fn": rule(r"element (\d+) of tensors does not require grad", no_grad_fn),
    "implicit_gradient": rule(r"grad can be implicitly created only for scalar outputs", implicit_gradient),
    "gradient_shape": rule(
        r"Mismatch in shape: grad_output\[\d+\] has a shape of torch\.Size\(\[(?P<given>[^\]]*)\]\) and "
        r"output\[\d+\] has a shape of torch\.Size\(\[(?P<wanted>[^\]]*)\]\)",
        gradient_shape,
    ),
}
