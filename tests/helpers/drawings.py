"""Pictures that are laid out here and not by Graphviz, shape by shape with their places:
`tests/viewer/drawings.txt`. `python tests/helpers/golden.py drawings` writes it anew.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from cells import traced

import minigrad
from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.strip_pictures import StripPicture
from minigrad_viz.model.strip import strip_of
from minigrad_viz.model.strip_insides import opened_cards
from minigrad_viz.shell.report import Report
from minigrad_viz.training_runs import Doctor, doctor
from minigrad_viz.training_runs.report_html import report_html

FILE = Path(__file__).resolve().parents[1] / "viewer" / "drawings.txt"
PLACES = ("x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "d", "points", "transform")
WAYS = """\
nn = torch.nn
class Turned(nn.Linear):
    def forward(self, x):
        return torch.exp(super().forward(x).mT.mT - 2)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = Turned(2, 2), nn.Linear(2, 1)
    def forward(self, x):
        return self.outer(torch.tanh(self.inner(x)) + x)
net = Net()
for i, p in enumerate(net.parameters()):
    p.data = torch.arange(float(p.numel())).reshape(p.shape) / 4 - i / 8
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loss = nn.functional.mse_loss(net(torch.tensor([[0.5, -1.0], [1.0, 2.0]])), torch.ones(2, 1))
loss.backward()
opt.step()
"""
TRAINING = """\
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
for i, p in enumerate(net.parameters()):
    p.data = torch.arange(float(p.numel())).reshape(p.shape) / 4 - i / 2
opt = torch.optim.SGD(net.parameters(), lr=0.02)
for i in range(5):
    x = torch.tensor([[0.5, -1.0], [i / 8, 2.0]])
    loss = ((net(x) - x[:, :1]) ** 2).mean()
    loss.backward()
    opt.step()
"""


def strip() -> Iterator[str]:
    """The cards of a model, with an arc over one of them, in all forms."""
    picture = Report(traced(WAYS, minigrad), lang="en").picture
    assert isinstance(picture, StripPicture)
    for form in picture.forms():
        yield form.svg()


def watched() -> Doctor:
    """A training that goes wrong, so short that every step is looked at."""
    name = "<training>"
    linecache.cache[name] = (len(TRAINING), None, TRAINING.splitlines(keepends=True), name)
    with doctor(show=False) as found:
        exec(compile(TRAINING, name, "exec"), {"torch": minigrad, "__name__": "__main__"})
    return found


def drawings() -> str:
    """All pictures, what is inside of the cards, and what the doctor says."""
    run = watched()
    page = report_html(run.evidence, run.findings, "en")
    drawn = {"strip": strip(), "doctor": iter(re.findall(r"<svg.*?</svg>", page, re.S))}
    parts = [f"=== {name}\n" + "---\n".join(map(shapes, each)) for name, each in drawn.items()]
    inside = opened_cards(strip_of(Report(traced(WAYS, minigrad)).views[-1]))
    opened = [f"=== inside {title}\n{outline(detail.graph, 'en')}\n" for _, title, detail in inside]
    said = [f"=== doctor {lang}\n{run.text(lang)}\n" for lang in ("en", "ko")]
    return "".join([*parts, *opened, *said])


def shapes(svg: str) -> str:
    """What an SVG draws, one shape a line: its class, its text and where it is."""
    lines = []
    for each in ElementTree.fromstring(svg).iter():
        name = each.tag.rpartition("}")[2]
        places = " ".join(f"{place}={each.get(place)}" for place in PLACES if each.get(place))
        said = repr("".join(each.itertext()).replace("\xa0", " ")) if name == "text" else ""
        if places or said:
            lines.append(" ".join(filter(None, (name, each.get("class"), said, places))) + "\n")
    return "".join(lines)
