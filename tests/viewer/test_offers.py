"""What the player of a cell offers besides: the line that asks for a prediction, or for live values."""

from __future__ import annotations

import pytest

from minigrad_viz.shell.run import trace_source

pytestmark = pytest.mark.quick

CUBE = "x = torch.tensor(5., requires_grad=True)\nz = torch.log(x**3)\nz.backward()\n"
MODEL = """torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
model(torch.ones(4, 2)).sum().backward()
"""
LOOP = """w = torch.tensor(1., requires_grad=True)
for i in range(3):
    (w * w).backward()
"""
FORWARD = "x = torch.tensor(5., requires_grad=True)\ny = x * 2\n"
FAILS = CUBE + "z.backward()\n"
BOTH = [["Predict", "%%autograd --predict"], ["Live", "%%autograd --live"]]


def offers(source: str, page: bool = False, **options):
    report = trace_source("import minigrad as torch\n" + source, lang="en", **options)[0]
    return report._offers(page)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (CUBE, BOTH),
        (MODEL, BOTH),
        (LOOP, [["Predict", "%%autograd --predict"], ["Live", "%%autograd --step --live"]]),
        (FORWARD, [["Live", "%%autograd --live"]]),
        (FAILS, []),
        ("print(3)\n", []),
    ],
    ids=["cube", "model", "loop", "forward", "fails", "nothing"],
)
def test_what_is_possible_is_offered(source, lines):
    found = offers(source) or {"ways": []}
    assert [[word, line] for word, _, line in found["ways"]] == lines


def test_the_line_keeps_what_the_cell_asks_for():
    from minigrad_viz.player.offers import LIVE, offers_of

    (way,) = offers_of([LIVE], "%%autograd --no-fold z\nx = 3", True, False, "en")["ways"]
    assert way[2] == "%%autograd --no-fold z --step --live"
    (way,) = offers_of([LIVE], "%%autograd --step\nx = 3", True, False, "en")["ways"]
    assert way[2] == "%%autograd --step --live"


@pytest.mark.parametrize("option", ["predict", "live"])
def test_nothing_is_offered_that_is_there(option):
    assert offers(CUBE, **{option: True}) is None


@pytest.mark.parametrize("source", [CUBE, MODEL], ids=["cube", "model"])
def test_what_is_offered_is_there(source):
    for _, _, line in offers(source)["ways"]:
        option = line.rpartition("--")[2]
        report = trace_source(f"import minigrad as torch\n{source}", lang="en", **{option: True})[0]
        assert report.questions if option == "predict" else report.living is not None, line


def test_a_page_of_a_program_offers_a_command():
    assert [way[2] for way in offers(CUBE, page=True)["ways"]] == [
        "python -m minigrad_viz -o page.html --predict program.py",
        "python -m minigrad_viz -o page.html --live program.py",
    ]
    assert len(offers(LOOP, page=True)["ways"]) == 1, "no page goes on with a training"
