"""Every error that learners meet, through a real shell: its text word for word, then why and fix, and in the
picture what is guilty; and the lines of both."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from cells import CELLS, CUBE, MY_POW, traced
from displayed import described, run, show
from shells import Shell

import minigrad
from minigrad_viz.model.schedule import STOPPED
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.graph import GUILTY

LEAF = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
PLAIN = "x = torch.tensor([1.0, 2.0])\n"
OURS = {  # where the libraries differ: what minigrad says in the dialect of PyTorch 1.4, what PyTorch says
    "second": (
        "RuntimeError: Trying to backward through the graph a second time, but the buffers have already been "
        "freed. Specify retain_graph=True when calling backward the first time.",
        "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed when you call "
        ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph "
        "a second time or if you need to access saved tensors after calling backward.",
    ),
    "jacobian": (
        "RuntimeError: Jacobian mismatch for output 0 with respect to input 0,",
        "GradcheckError: Jacobian mismatch for output 0 with respect to input 0,",
    ),
}


class Key(NamedTuple):
    """A program, the first line of its error (or a key of `OURS`, or how it begins, with a `…` at the end),
    the guilty parts of the picture and what led to it, the line where it came up and that of its cause. Line
    1 is that of the magic. A note (`error` is "") has no error."""

    program: str
    error: str
    guilty: tuple[str, ...]
    causes: tuple[str, ...]
    line: int
    cause: int | None


KEYS: dict[str, Key] = {
    "second_backward": Key(
        CUBE + "z.backward()\nz.backward()\n", "second",
        ("LogBackward of z", "self in LogBackward of z"), (), 6, 5,
    ),
    "saved_modified": Key(
        LEAF + "y = torch.exp(x)\nz = (y * 2).sum()\ny += 1\nz.backward()\n",
        "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace "
        "operation: [torch.FloatTensor [2]], which is output 0 of …",
        ("ExpBackward of y₁", "result in ExpBackward of y₁"), ("card y₁", "card y₂"), 6, 5,
    ),
    "no_grad_fn": Key(
        LEAF + "with torch.no_grad():\n    y = x * 2\nz = y.sum()\nz.backward()\n",
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
        ("card z",), ("x → y",), 6, 4,
    ),
    "implicit_gradient": Key(
        LEAF + "y = x * 2\ny.backward()\n",
        "RuntimeError: grad can be implicitly created only for scalar outputs", ("card y",), (), 4, None,
    ),
    "gradient_shape": Key(
        LEAF + "y = x * 2\nv = torch.ones(3)\ny.backward(v)\n",
        "RuntimeError: Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a "
        "shape of torch.Size([2]).",
        ("card y",), ("card v",), 5, None,
    ),
    "integer_requires_grad": Key(
        "n = torch.tensor([1, 2])\nn.requires_grad_()\n",
        "RuntimeError: only Tensors of floating point dtype can require gradients", ("card n",), (), 3, 2,
    ),
    "flag_of_non_leaf": Key(
        LEAF + "y = x * 2\ny.requires_grad = False\n",
        "RuntimeError: you can only change requires_grad flags of leaf variables. If you want to use a "
        "computed variable in a subgraph that doesn't require differentiation use var_no_grad = "
        "var.detach().",
        ("card y",), (), 4, 3,
    ),
    "leaf_in_place": Key(
        LEAF + "x += 1\n",
        "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
        ("card x",), (), 3, None,
    ),
    "view_of_leaf_in_place": Key(
        LEAF + "x[0] = 5.0\n",
        "RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place operation.",
        ("card x",), (), 3, None,
    ),
    "numpy_of_graph": Key(
        LEAF + "y = x * 2\ny.numpy()\n",
        "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        ("card y",), (), 4, 3,
    ),
    "retain_grad_without": Key(
        PLAIN + "x.retain_grad()\n",
        "RuntimeError: can't retain_grad on Tensor that has requires_grad=False", ("card x",), (), 3, 2,
    ),
    "hook_without": Key(
        PLAIN + "x.register_hook(print)\n",
        "RuntimeError: cannot register a hook on a tensor that doesn't require gradient",
        ("card x",), (), 3, 2,
    ),
    "unused_input": Key(
        LEAF + "w = torch.tensor(3.0, requires_grad=True)\ny = x.sum()\ntorch.autograd.grad(y, w)\n",
        "RuntimeError: The differentiated Tensor at index 0 appears to not have been used in the graph. Set "
        "allow_unused=True if this is the desired behavior.",
        ("card w",), (), 5, None,
    ),
    "hook_shape": Key(
        LEAF + "y = x * 2\ny.register_hook(lambda g: g.sum())\ny.sum().backward()\n",
        "RuntimeError: hook '<lambda>' has changed the size of value", ("MulBackward0 of y",), (), 5, 4,
    ),
    "wrong_count": Key(
        MY_POW.replace("return g * exponent * base ** (exponent - 1), ", "return ")
        + LEAF + "y = MyPow.apply(x, x)\ny.sum().backward()\n",
        "RuntimeError: function MyPowBackward returned an incorrect number of gradients (expected 2, got 1)",
        ("MyPowBackward of y",), (), 15, 12,
    ),
    "none_grad": Key(
        LEAF + "x.sum().backward()\nx = x - 0.1 * x.grad\nx.sum().backward()\nx.grad.zero_()\n",
        "AttributeError: 'NoneType' object has no attribute 'zero_'", ("card x₂",), (), 6, 4,
    ),
    "assigned_grad": Key(
        LEAF + "x.grad = torch.ones(3)\n",
        "RuntimeError: attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. Please "
        "ensure that the gradient and the tensor are the same size",
        ("card x",), (), 3, 2,
    ),
    "jacobian_mismatch": Key(CELLS[21], "jacobian", (), (), 15, 12),
    "single_precision": Key(
        "a = torch.tensor(5.0, requires_grad=True)\n"
        "torch.autograd.gradcheck(lambda a: a * 2, (a,), eps=0.1, atol=1.0)\n",
        "", (), ("card a",), 3, None,
    ),
    "non_leaf_grad": Key(CUBE + "z.backward()\nprint(y.grad)\n", "", (), ("card y",), 6, None),
}  # fmt: skip


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """One shell for all cells; each forgets the one before."""
    with Shell(tmp_path_factory.mktemp("ipython")) as shell:
        yield shell


@pytest.mark.sample(12)
@pytest.mark.parametrize("key", KEYS)
def test_error(shell, library, key):
    known = KEYS[key]
    alone = run(shell, "#\n" + known.program, library).failed
    shown = show(shell, known.program, library)
    (explained,) = [each for each in shown.report.explained if each.key == key]
    assert shown.ran.failed == alone, "the same error as without a watcher"
    word_for_word(known, shown, explained, library)
    assert explained.span is not None and explained.span.line == known.line
    assert (explained.cause and explained.cause.line) == known.cause
    marked(known, shown)
    assert not shown.report.problem


def word_for_word(known, shown, explained, library):
    """The error stands first and is what it is without a watcher; then why, and then fix."""
    label = "error" if known.error else "note"
    if known.error:
        first = OURS.get(known.error, (known.error, known.error))[library is not minigrad]
        whole = shown.ran.failed.split("\n")[0]
        assert whole.startswith(first[:-1]) if first.endswith("…") else whole == first
        assert explained.error == shown.ran.failed.strip()
        assert "error" not in shown.panel, "its traceback stands above"
        assert f"error: {explained.error}\n" in shown.text
        assert shown.ran.failed.split("\n")[0] in shown.ran.printed, "the traceback is what it always was"
    else:
        assert not shown.ran.failed and "error" not in shown.panel
    why = "why" if known.error else "note"
    assert shown.panel[why] == explained.why and shown.panel["fix"] == explained.fix
    order = [shown.text.index(f"{name}: ") for name in dict.fromkeys((label, why, "fix"))]
    assert order == sorted(order) and explained.why and explained.fix


def marked(known, shown):
    """The marked parts are the right ones, and the picture has their classes."""
    graph, classes = shown.report.graph, shown.classes()
    parts: dict[str, list[str]] = {"error": [], "cause": []}
    at = {f"{station.id}-c0" for station, card in graph.cards() if card.id == STOPPED}
    for mark in graph.marks:
        if mark.part in at:  # tests/viewer/test_stopped.py
            continue
        kind = "error" if mark.kind == GUILTY else "cause"
        parts[kind].append(described(graph, mark.part))
        assert kind in classes[mark.part], mark
        if mark.label:
            assert mark.label in shown.said() or mark.label in shown.svg, mark
    found = {kind: plain(*names) for kind, names in parts.items()}
    assert found == {"error": plain(*known.guilty), "cause": plain(*known.causes)}


def plain(*names: str) -> tuple[str, ...]:
    """Names of nodes as PyTorch 1.4 has them, where only those of several overloads have a digit."""
    return tuple(re.sub(r"(Log|Exp)Backward0", r"\1Backward", name) for name in names)


@pytest.mark.parametrize("key", KEYS)
def test_korean(key):
    trace = traced(KEYS[key].program)
    english, made = Report(trace, lang="en"), Report(trace, lang="ko")
    said = [(each.why, each.fix) for each in made.explained if each.key == key]
    assert said and all(korean(why) and korean(fix) for why, fix in said)
    marks = [(m.part, m.kind) for m in made.graph.marks]
    assert marks == [(m.part, m.kind) for m in english.graph.marks], "the same parts in any language"


def korean(sentence: str) -> bool:
    """Whether a sentence is written in Korean."""
    return any("가" <= letter <= "힣" for letter in sentence)


@pytest.mark.usefixtures("names_of_today")
@pytest.mark.parametrize("key", KEYS)
def test_todays_names(key):
    """The texts of PyTorch 2 in minigrad are explained like those of 1.4."""
    made = Report(traced(KEYS[key].program), lang="en")
    (explained,) = [each for each in made.explained if each.key == key]
    assert explained.why and explained.fix and explained.span.line == KEYS[key].line - 1
