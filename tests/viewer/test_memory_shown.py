"""The memory of the graph, in bytes: the same as PyTorch's own saved-tensor hooks count."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from cells import CELLS, run, traced
from hypothesis import given, settings
from tiers import examples

import minigrad
import minigrad_viz
from minigrad_viz import Report
from minigrad_viz.model.memory import Memory, memory_of_scenes
from minigrad_viz.model.scene import Scenes
from minigrad_viz.trace.events import Trace
from minigrad_viz.words import CATALOGUES

CODE_12 = "a = torch.ones(1000, requires_grad=True)\nz = (a * 2).exp().sum()\n"


def memory_of_trace(trace: Trace) -> Memory:
    return memory_of_scenes(Scenes(trace))


def held(trace):
    """(before, after) of each backward call."""
    return [(m.before, m.after) for m in memory_of_trace(trace).moments]


# ── what counts ─────────────────────────────────────────────────────────────────────────────────────────────

PARTS = {  # what is computed from a leaf x of 10 numbers: the bytes held, and those of leaves
    "x + 1": (0, 0),
    "x * 3.0": (0, 0),
    "x * x": (0, 40),
    "x ** 2": (0, 40),
    "x.view(5, 2).t() * 2": (0, 0),
    "x.view(5, 2) @ x.view(2, 5)": (0, 40),
    "(x * 2).log()": (40, 0),
    "(x * 2) * (x * 2)": (80, 0),
    "(lambda y: y * y)(x * 2)": (40, 0),
    "(lambda y: y.exp().log())(x * 2)": (40, 0),
    "(lambda y: y * y.view(10))(x * 2)": (40, 0),
    "(lambda y: y[:1] * y[1:2])(x * 2)": (40, 0),
    "x * torch.ones(10)": (40, 0),
    "x * torch.tensor(2.0, dtype=torch.float64)": (8, 0),
    "x.sum().exp()": (4, 0),
    "(x * 2).exp().detach()": (0, 0),
}


@pytest.mark.parametrize("code", PARTS)
def test_what_counts_and_what_is_held_anyway(library, code):
    trace = traced(f"x = torch.ones(10, requires_grad=True)\ny = {code}\n", library)
    memory = memory_of_trace(trace)
    assert (memory.held, memory.leaves) == PARTS[code]
    assert sum(item.bytes for item in memory.items) == memory.held


def test_live(library):
    x = library.ones(10, requires_grad=True)
    y = (x * x).exp()
    z = (y * y).sum()
    sheet = minigrad_viz.memory(z, lang="en")
    assert (sheet.held, sheet.leaves) == (40, 40)
    assert "held for backward: 40 bytes" in repr(sheet).lower() and "<table" in sheet.html()
    assert next(line.split() for line in repr(sheet).splitlines() if line.startswith("Exp"))[1] == "y"
    z.backward()
    assert minigrad_viz.memory(z, lang="en").held == 0
    assert repr(minigrad_viz.memory(x, lang="en")).endswith("There is no graph, so 0 bytes are held.")
    with pytest.raises(TypeError, match=r"memory\(\) tells what the graph of tensors holds, not of int"):
        minigrad_viz.memory(3)


# ── against PyTorch's own count ─────────────────────────────────────────────────────────────────────────────

VALUES = [
    "{a} * {b}", "{a} + {b}", "{a} - 2", "{a} / 3.0", "{a} * 2", "{a}.exp()", "{a} ** 2", "{a} ** 3",
    "({a} * {a}).sqrt()", "{a}.sin() * {b}.cos()", "{a}.view(2, 3).t().reshape(6)", "{a}[2:3] * {b}",
    "{a}.tanh() + {b}.sigmoid()", "{a}.relu()", "{a}.sum() * {b}", "{a}.view(3, 2) @ {b}.view(2, 3)[:, :1]",
    "{a}.mean() + {b}", "{a}.detach() * {b}", "{a} * c", "{a}.view(6) * {b}.clone()", "-{a}.abs()",
]  # fmt: skip
picks = st.tuples(st.sampled_from(VALUES), st.integers(0, 9), st.integers(0, 9))


def program(parts) -> str:
    """A program that makes `out` of the leaves p and q."""
    lines = [
        "p = torch.linspace(0.5, 3.0, 6, requires_grad=True)",
        "q = torch.linspace(1.0, 2.0, 6, requires_grad=True)",
    ]
    lines[1:1] = ["c = torch.ones(6)"]
    names = ["p", "q"]
    for i, (value, first, second) in enumerate(parts):
        a, b = names[-1 - first % len(names)], names[second % len(names)]
        lines.append(f"v{i} = ({value.format(a=a, b=b)}).sum() * torch.ones(6) + {a}")
        names.append(f"v{i}")
    total = " + ".join(f"{name}.sum()" for name in names)
    return "\n".join([*lines, f"out = {total}"]) + "\n"


def counted(source: str, torch) -> tuple[int, int]:
    """The bytes of the storages that PyTorch packs, and of the leaves' among them."""
    packed = []

    def pack(tensor):
        packed.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        names = run(source, torch, watched=False).names
    leaves = {names[name].untyped_storage().data_ptr() for name in ("p", "q")}
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in packed}
    own = sum(size for memory, size in sizes.items() if memory not in leaves)
    return own, sum(sizes.values()) - own


@settings(max_examples=examples(30))
@given(parts=st.lists(picks, min_size=1, max_size=5))
def test_bytes_are_those_that_pytorch_packs(torch, parts):
    source = program(parts)
    expected = counted(source, torch)
    for library in (torch, minigrad):
        ran = run(source + "out.backward()\n", library)
        assert ran.error is None
        memory = memory_of_trace(ran.trace)
        assert (memory.held, memory.leaves) == expected, library
        assert held(ran.trace) == [(expected[0], 0)]
        assert sum(item.bytes for item in memory.items) == memory.held
    live = run(source, minigrad, watched=False).names["out"]
    assert minigrad_viz.memory(live, names={}).held == expected[0]


# ── shown ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("lang", CATALOGUES)
def test_page(library, lang):
    report = Report(traced(CODE_12 + "z.backward()\n", library), lang=lang, memory=True)
    page = report.html()
    assert "<s>4,000</s>" in page and report.memory.title in page
    assert report.memory.text() in report.text()
    assert report.memory.title not in Report(report.trace, lang=lang).text()


@pytest.mark.parametrize("code", CELLS)
def test_every_documented_cell_has_a_sheet(library, code):
    sheet = Report(traced(CELLS[code], library), lang="en").memory
    assert sheet.text() and sheet.html()
    assert sum(item.bytes for item in sheet.memory.items) == sheet.held
