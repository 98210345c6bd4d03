"""Two runs side by side: the first difference is the one that was made, both are drawn on one layout, and
cells that compare nothing store nothing of it."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from cells import CELLS, CUBE, traced
from pictures import parse, translation
from pill_checks import OPS, random_cell

import minigrad
from minigrad_viz import compare, record
from minigrad_viz.__main__ import main
from minigrad_viz.comparing import comparison
from minigrad_viz.comparing.comparison import Comparison
from minigrad_viz.comparing.differences import (
    ACTION,
    ARGUMENTS,
    INPUTS,
    NODE,
    VALUE,
    ActionReader,
    align_runs,
    same_numbers,
)
from minigrad_viz.comparing.side_by_side import MOST
from minigrad_viz.protocol import Value
from minigrad_viz.shell.report import Report

pytest_plugins = ["magic_shell"]

X = "x = torch.tensor(3.0, requires_grad=True)\n"
ATTACHED = X + "y = x * x\nz = y * x\nz.backward()\n"
DETACHED = ATTACHED.replace("z = y *", "z = y.detach() *")
NO_GRAD = X + "with torch.no_grad():\n    y = x * x\nz = y * x\nz.backward()\n"
TRAINING = (
    "w = torch.tensor(1.0, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nfor i in range(3):\n"
    "    loss = (w * 2 - 3) ** 2\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
)
BY_HAND = (
    "w = torch.tensor(1.0, requires_grad=True)\nfor i in range(3):\n    loss = (w * 2 - 3) ** 2\n"
    "    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None\n"
)
CANCELLED = X.replace("3.0", "0.1") + "y = (x + 1e6) - 1e6\nz = y * y\nz.backward()\n"
CUSTOM = (
    "class Cube(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        ctx.save_for_backward(x)\n        return x ** 3\n\n    @staticmethod\n"
    "    def backward(ctx, g):\n        x, = ctx.saved_tensors\n        return g * 3 * x ** 2\n\n"
) + X.replace("3.0", "5.0") + "y = Cube.apply(x)\nz = torch.log(y)\nz.backward()\n"  # fmt: skip

# The six pairs: what differs first, where, and what is said of it.
PAIRS = {
    "detach": (
        ATTACHED, DETACHED, ACTION, (3, 3),
        "B has an extra `.detach()` in line 3; so no gradient reaches x through y: "
        "x.grad is 9. instead of 27.",
    ),
    "no_grad": (
        ATTACHED, NO_GRAD, NODE, (2, 3),
        "A, line 2: y has the node MulBackward0; B, line 3: y has no node and requires no gradient",
    ),
    "zero_grad": (
        TRAINING, TRAINING.replace("    opt.zero_grad()\n", ""), ACTION, (5, 5),
        "A has an extra `opt.zero_grad()` in line 5; so w.grad is -0.16 instead of -1.76",
    ),
    "lr": (
        TRAINING, TRAINING.replace("lr=0.1", "lr=0.3"), ARGUMENTS, (7, 7),
        "A, line 7: SGD takes a step with lr=0.1; B, line 7: SGD takes a step with lr=0.3",
    ),
    "lr by hand": (
        BY_HAND, BY_HAND.replace("0.1", "0.3"), ARGUMENTS, (6, 6),
        "A, line 6: `0.1 * w.grad` runs; B, line 6: `0.3 * w.grad` runs",
    ),
    "dtype": (
        CANCELLED, CANCELLED.replace("0.1,", "0.1, dtype=torch.float64,"), VALUE, (2, 2),
        "A, line 2: y is 0.125; B, line 2: y is 0.1",
    ),
    "backward": (
        CUSTOM, CUSTOM.replace("g * 3 * x", "g * x"), VALUE, (15, 15),
        "A, line 15: CubeBackward of y passes on 0.6; B, line 15: CubeBackward of y passes on 0.2",
    ),
}  # fmt: skip


def changed(cell: str, seed: int) -> tuple[str, int]:
    """A random cell with another op in one line, and which line that is."""
    draw = random.Random(seed)
    lines = cell.splitlines()
    number = draw.choice([i for i, line in enumerate(lines) if re.match(r"y\d+ = ", line)])
    name, _, right = lines[number].partition(" = ")
    a, b = (re.findall(r"\b[xy]\d+\b", right) * 2)[:2]
    others = [op.format(a=a, b=b) for op in OPS if op.format(a=a, b=b) != right]
    lines[number] = f"{name} = {draw.choice(others)}"
    return "\n".join([*lines, ""]), number + 1


@pytest.mark.sample(30)
@pytest.mark.quick(6)
@pytest.mark.parametrize("seed", range(60))
def test_a_changed_op_is_the_first_difference(seed, library):
    cell = random_cell(seed)
    other, line = changed(cell, seed)
    found = compare(traced(cell, library), traced(other, library), lang="en").difference
    assert (found.a.span.line, found.b.span.line) == (line, line)
    assert found.what in (ACTION, INPUTS, ARGUMENTS)


@pytest.mark.quick(7)
@pytest.mark.parametrize("pair", PAIRS)
def test_the_six_pairs(pair, library):
    a, b, what, lines, said = PAIRS[pair]
    compared = compare(traced(a, library), traced(b, library), lang="en")
    found = compared.difference
    assert (found.what, (found.a.span.line, found.b.span.line)) == (what, lines)
    assert re.sub(r"Backward0", "Backward", compared.sentence).endswith(re.sub("Backward0", "Backward", said))
    assert compared.sentence in compared.text() and compared.svgs() is not None
    korean = compare(traced(a, library), traced(b, library), lang="ko")
    runs = [run for run in "AB" if run == found.extra or not found.extra]
    assert all(run in korean.sentence for run in runs)
    assert all(f"{line}행" in korean.sentence for run, line in zip("AB", lines, strict=True) if run in runs)


@pytest.mark.parametrize("code", [4, 6, 9, 11, 13, 16])
def test_both_libraries_do_the_same(code, torch):
    compared = compare(traced(CELLS[code], minigrad), traced(CELLS[code], torch), lang="en")
    assert compared.difference is None and compared.aligned.alike > 5
    assert compared.sentence.startswith("Both runs did the same")


MODEL = """
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
with torch.no_grad():
    for i, p in enumerate(model.parameters()):
        p.copy_(torch.arange(p.numel()).reshape(p.shape) * 0.1 - 0.2 * i)
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
loss = ((model(x) - {}) ** 2).mean()
loss.backward()
"""


def test_both_libraries_do_the_same_in_a_model(torch):
    """They use weight and bias in another order, and one of them does not tell what `weight.T` is."""
    mine, theirs, other = (traced(MODEL.format(n), lib) for n, lib in ((1, minigrad), (1, torch), (2, torch)))
    assert compare(mine, theirs).difference is None
    difference = compare(mine, other).difference
    assert difference.what == ARGUMENTS and difference.a.op == "sub"


@pytest.mark.parametrize("seed", range(20))
def test_both_libraries_do_the_same_in_random_cells(seed, torch):
    assert compare(traced(random_cell(seed), minigrad), traced(random_cell(seed), torch)).difference is None


def test_a_run_is_the_same_as_itself_in_another_precision():
    double = CELLS[9].replace("5.0,", "5.0, dtype=torch.float64,")
    compared = compare(traced(CELLS[9]), traced(double), lang="en")
    assert compared.difference is None
    assert compared.notes == [
        "A computes in float32, B in float64: numbers that differ only by rounding count as the same."
    ]


@pytest.mark.parametrize(
    "p, q, same",
    [
        (Value((), "float32", (1.0,)), Value((), "float32", (1.000001,)), True),
        (Value((), "float32", (1.0,)), Value((), "float32", (1.001,)), False),
        (Value((), "float64", (1.0,)), Value((), "float64", (1.000001,)), False),
        (Value((), "float32", (1.0,)), Value((), "float64", (1.000001,)), True),
        (Value((), "float32", (1.0,)), Value((1,), "float32", (1.0,)), False),
        (Value((), "float32", (1.0,)), Value((), "int64", (1,)), False),
        (Value((2,), "float32", (1.0, float("nan"))), Value((2,), "float32", (1.0, float("nan"))), True),
        (Value((2,), "float32", (1.0, float("inf"))), Value((2,), "float32", (1.0, 2.0)), False),
        (None, Value((), "float32", (0.0,)), False),
    ],
)
def test_when_numbers_are_the_same(p, q, same):
    assert same_numbers(p, q) is same and same_numbers(q, p) is same


def test_a_run_that_ends_earlier():
    compared = compare(traced(CUBE + "z.backward()\n"), traced(CUBE), lang="en")
    assert compared.sentence == "The first difference: A, line 4: `z.backward()` runs; B: the run has ended"
    assert ["x.grad", "0.6", "None"] in json.loads(compared.to_json())["ends"]


def test_a_run_that_fails():
    compared = compare(traced(CUBE + "z.backward()\n"), traced(CUBE + "z.missing()\n"), lang="en")
    assert compared.sentence.endswith("B, line 4: the cell fails with AttributeError: 'Tensor' object has no "
                                      "attribute 'missing'")  # fmt: skip


@pytest.mark.quick
def test_what_is_the_same_stands_at_the_same_place():
    compared = compare(traced(ATTACHED), traced(DETACHED), lang="en")
    pictures = [parse(svg)[0] for svg in compared.svgs()]
    assert pictures[0].get("viewBox") == pictures[1].get("viewBox")
    middles = []
    for root in pictures:
        at = {}
        for element in root.iter():
            if (element.get("class") or "").startswith("station"):
                _, y = translation(element)
                at[element.get("id").partition("-")[2]] = round(y)
        middles.append(at)
    first, second = middles
    assert set(first) < set(second) and len(second) == len(first) + 1
    assert all(abs(first[id] - second[id]) < 40 for id in first)


def test_nodes_have_the_names_that_they_have_in_the_picture(library):
    compared = compare(traced(ATTACHED, library), traced(DETACHED, library), lang="en")
    (name,) = set(re.findall(r"MulBackward\w*", compared.svgs()[0]))
    other = compare(traced(CUSTOM, library), traced(PAIRS["backward"][1], library), lang="en")
    assert name and "line 15: CubeBackward of y passes on 0.6" in other.text()


def test_the_difference_is_lit_and_the_rest_is_pale():
    compared = compare(traced(CUSTOM), traced(PAIRS["backward"][1]), lang="en")
    for svg in compared.svgs():
        lit = re.findall(r'class="([a-z]+)[^"]* lit" id="[ab]\w+-([\w-]+)"', svg)
        assert [kind for kind, _ in lit] == ["edge", "station", "pill"]
        assert ".45}" in svg and "legend" not in svg.partition("</style>")[2]


def test_other_pictures_of_the_page_are_not_pale():
    compared = compare(traced(CUSTOM), traced(PAIRS["backward"][1]), lang="en")
    same = compare(traced(CUSTOM), traced(CUSTOM), lang="en")
    for svg in compared.svgs():
        assert 'class="mg mg-auto pale"' in svg
        rule = re.findall(r"[^{}]+(?=\{opacity:\.45)", svg)[-1]
        assert [part for part in rule.strip().split(",") if not part.startswith(".pale ")] == []
    assert all(".pale" not in svg and " pale" not in svg for svg in same.svgs())


@pytest.mark.parametrize("pair, update", [("lr", "opt.step()"), ("zero_grad", "opt.zero_grad()")])
def test_what_an_optimizer_did_is_lit_below_the_graph(pair, update):
    a, b, *_ = PAIRS[pair]
    svg, _ = compare(traced(a), traced(b), lang="en").svgs()
    (lit,) = re.findall(r'<g class="update lit".*?</g>', svg)
    assert update in lit


def test_of_a_large_graph_what_is_near_is_drawn():
    cell = "x = torch.tensor(1.0, requires_grad=True)\ny = x\nfor i in range(90):\n    y = y * 1.01\n"
    compared = compare(traced(cell + "y.backward()\n"), traced(cell + "z = y * 2\nz.backward()\n"))
    for svg in compared.svgs():
        assert 10 < len(re.findall(r'<g class="station', svg)) <= MOST
    (said,) = compared.left_out()
    assert f"only the {MOST} nearest to the difference are drawn" in said and said in compared.html()


def test_names_reports_recordings_and_traces(tmp_path):
    with record() as recording:
        x = minigrad.tensor(2.0, requires_grad=True)
        (x * x).backward()
    report = Report(recording.trace)
    assert compare(recording, report).difference is None
    comparison.keep("mine", recording.trace)
    assert compare("mine", recording.trace, lang="en").title(compare("mine", report).a).startswith("A")
    with pytest.raises(KeyError, match=r"nothing is kept under .yours.; there are:.* mine"):
        compare("yours", report, lang="en")
    with pytest.raises(TypeError, match="not int"):
        compare(3, report, lang="en")


def test_only_the_newest_are_kept(monkeypatch):
    monkeypatch.setattr(comparison, "_runs", {})
    for i in range(comparison.MOST + 3):
        comparison.keep(str(i), traced("x = 1\n"))
    assert comparison.run_called("2") is None and comparison.run_called("3") is not None


def test_files(tmp_path):
    compared = compare(traced(ATTACHED), traced(DETACHED), lang="en")
    assert compared.sentence in compared.save(tmp_path / "a.txt").read_text(encoding="utf-8")
    written = json.loads(compared.save(tmp_path / "a.json").read_text(encoding="utf-8"))
    assert (written["difference"], written["same"], written["a"]["op"]) == ("deed", 2, "mul")
    assert "<figure>" in compared.save(tmp_path / "a.html").read_text(encoding="utf-8")
    compared.save(tmp_path / "a.svg")
    assert [(tmp_path / f"a-{run}.svg").read_text(encoding="utf-8")[:4] for run in "ab"] == ["<svg"] * 2
    with pytest.raises(ValueError, match=r"cannot write .\.png."):
        compared.save(tmp_path / "a.png")


def test_long_runs_are_compared_in_time():
    cell = (
        "x = torch.tensor(1.0, requires_grad=True)\nfor i in range(400):\n    y = x * {}\n    y.backward()\n"
    )
    runs = [tuple(ActionReader(traced(cell.format(factor))).actions()) for factor in ("2", "3")]
    assert align_runs(*runs).alike == 1


def test_of_rounds_that_were_only_counted_the_first_other_result_is_told():
    """Of a long loop the newest rounds are recorded, which differ from the beginning."""
    long = TRAINING.replace("range(3)", "range(120)").replace("lr=0.1", "lr=0.001")
    compared = compare(traced(long), traced(long.replace("0.001", "0.002")), lang="en")
    assert compared.a.trace.skipped and compared.first_round()[0] == 2
    assert compared.notes == [
        "The first backward calls were only counted. The result first differs in call 2: "
        "0.98406 in A, 0.96826 in B."
    ]
    assert compare(traced(TRAINING), traced(BY_HAND)).notes == []


def test_code_in_the_headline_is_code():
    page = compare(traced(ATTACHED), traced(DETACHED), lang="en").html()
    said = page[page.index('"mgc-said"') :].partition("</p>")[0]
    assert "<code>.detach()</code> in line 3" in said and "`" not in said


def test_runs_are_laid_out_as_the_cell_alone_and_fit_a_page():
    long = ATTACHED.replace("z = y * x", "z = y * x\n" + "z = z * 2\n" * 7)
    cuts = {ATTACHED: ("y * x", "y.detach() * x"), long: ("y * x", "y.detach() * x")}
    for cell, cut in (cuts | {LOG_SQRT: ("w = x ** 2", "w = (x ** 2).detach()")}).items():
        shown = compare(traced(cell), traced(cell.replace(*cut)), lang="en").svgs()
        sizes = [
            [float(n) for n in re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', svg).groups()] for svg in shown
        ]
        alone = re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', Report(traced(cell)).picture.svg()).groups()
        assert all(round(12 * 960 / width, 1) >= 11 for width, _ in sizes), "the size of letters"
        assert all((width > height) == (float(alone[0]) > float(alone[1])) for width, height in sizes)


LOG_SQRT = X.replace("3.0", "5.0") + (
    "y = x ** 3\nw = x ** 2\nz = torch.log(y) + torch.sqrt(w)\nz.backward()\n"
)


@pytest.mark.quick
@pytest.mark.parametrize("turned", [False, True])
def test_the_culprit_is_named_and_framed_and_not_what_the_other_run_does_instead(turned, library):
    runs = [
        traced(LOG_SQRT, library),
        traced(LOG_SQRT.replace("w = x ** 2", "w = x ** 2\nw = w.detach()"), library),
    ]
    compared = compare(*(reversed(runs) if turned else runs), lang="en")
    run, other = "AB" if turned else "BA"
    assert compared.sentence == (
        f"{run} has an extra `.detach()` in line 4; so no gradient reaches x through w₁: "
        "x.grad is 0.6 instead of 1.6"
    )
    innocent = compared.a if other == "A" else compared.b
    assert "▶ nothing in its place" in compared.around(innocent)
    lit = [re.findall(r'class="station[^"]* lit"', svg) for svg in compared.svgs()]
    assert [len(found) for found in lit] == ([1, 0] if turned else [0, 1])


def test_a_replaced_op_is_no_extra_one():
    other = LOG_SQRT.replace("torch.log(y)", "torch.exp(y)")
    assert compare(traced(LOG_SQRT), traced(other), lang="en").difference.extra == ""
    more = LOG_SQRT.replace("x ** 2", "x ** 2 + 1")
    sentence = compare(traced(LOG_SQRT), traced(more), lang="en").sentence
    assert sentence == "B has an extra `x ** 2 + 1` in line 3; so x.grad is 1.5806 instead of 1.6"


def test_saved_traces_are_compared(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Report(traced(ATTACHED)).save("a.json")
    Report(traced(DETACHED)).save("b.json")
    compared = compare("a.json", Path("b.json"), lang="en")
    assert [compared.title(run) for run in (compared.a, compared.b)] == ["A: a.json", "B: b.json"]
    assert ".detach()" in compared.sentence
    with pytest.raises(FileNotFoundError):
        compare("c.json", "a.json")
    Path("cell.py").write_text("import minigrad as torch\n" + DETACHED, encoding="utf-8")
    assert main(["--vs", "a.json", "--lang", "en", "-o", "c.html", "cell.py"]) == 0
    assert "B has an extra `.detach()` in line 4" in capsys.readouterr().out
    assert "<figure>" in Path("c.html").read_text(encoding="utf-8")
    assert main(["--vs", "missing.json", "cell.py"]) == 1
    assert "missing.json: No such file" in capsys.readouterr().err


def test_a_run_that_is_named_as_its_letter_is_named_once():
    compared = Comparison(traced(ATTACHED), traced(DETACHED), ("A", "this cell"), lang="en")
    assert [compared.title(run) for run in (compared.a, compared.b)] == ["A", "B: this cell"]


@pytest.mark.quick
class TestMagic:
    @pytest.fixture(autouse=True)
    def nothing_is_kept(self, monkeypatch):
        monkeypatch.setattr(comparison, "_runs", {})

    def test_a_changed_cell_is_compared_with_the_first(self, front):
        first = front(f"%%autograd --vs cut --lang en\n{ATTACHED}")
        assert "data-mgp" in first[-1]["text/html"] and 'class="mgc' not in first[-1]["text/html"]
        (second,) = front(f"%%autograd --vs cut --lang en\n{DETACHED}")
        assert "A: cut" in second["text/html"] and "B: this cell" in second["text/html"]
        assert "`y.detach()` runs" in second["text/plain"] and "data-mgp" not in second["text/html"]
        (third,) = front(f"%%autograd --vs cut --lang en\n{NO_GRAD}")
        assert "no node" in third["text/plain"], "it is compared with the first"

    def test_the_same_cell_again_is_kept_again(self, cell):
        source = f"%%autograd --vs cut --lang en\n{ATTACHED}"
        assert "Kept as cut." in cell(source) and "Kept as cut." in cell(source)
        told = cell(source.replace("y *", "y.detach() *"))
        assert told.startswith("B has an extra `.detach()` in line 4;") and "Kept" not in told

    def test_the_same_cell_on_the_other_library_is_compared(self, torch):
        trace, other = traced(ATTACHED), traced(ATTACHED, torch)
        assert (trace.library, other.library) == ("minigrad", "torch") and trace.source == other.source
        assert (
            comparison.comparison_with("own", trace) is None
            and comparison.comparison_with("own", trace) is None
        )
        assert "did the same" in comparison.comparison_with("own", other, "en").sentence

    def test_a_cell_that_fails_says_why_first(self, front):
        front(f"%%autograd --vs cut --lang en\n{ATTACHED}")
        shown = front(f"%%autograd --vs cut --lang en\n{ATTACHED}z.backward()\n")
        assert ["mge" in each["text/html"] for each in shown] == [True, False]
        assert "line 5" in shown[1]["text/plain"]

    def test_files_are_those_of_the_comparison(self, cell, tmp_path):
        cell(f"%%autograd --vs cut\n{ATTACHED}")
        cell(f"%%autograd --vs cut -o {tmp_path}/a.json\n{DETACHED}")
        assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["difference"] == "deed"

    def test_a_name_is_needed(self, cell):
        assert "--vs needs a value after it" in cell(f"%%autograd --vs --lang en\n{ATTACHED}")
