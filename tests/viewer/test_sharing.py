"""Films, slides and worksheets: each file is opened by another program than the one that wrote it."""

from __future__ import annotations

import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from cells import CELLS, traced

from minigrad_viz.drawing.graphviz_wasm import LayoutUnavailable
from minigrad_viz.player.still import SVG, StillPictures
from minigrad_viz.sharing import film
from minigrad_viz.sharing.step_pages import SIZES, SMALLEST, WORDS, StepPages, drop_legend, extent
from minigrad_viz.sharing.tikz import path_shape, tex
from minigrad_viz.sharing.worksheet import LINE, PAPER, Worksheet
from minigrad_viz.shell.report import Report
from minigrad_viz.shell.run import trace_source

LAYER = (
    "import minigrad as torch\nx = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\n"
    "w = torch.tensor([[0.5], [0.25]], requires_grad=True)\nb = torch.tensor(0.1, requires_grad=True)\n"
    "h = torch.tanh(x @ w + b)\nloss = ((h - 1) ** 2).mean()\nloss.backward()\n"
)
MODEL = (
    "import minigrad as torch\nfrom minigrad import nn\ntorch.manual_seed(0)\n"
    "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))\n"
    "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nx = torch.randn(6, 4)\n"
    "loss = nn.functional.cross_entropy(net(x), torch.tensor([0, 1, 0, 1, 0, 1]))\n"
    "opt.zero_grad()\nloss.backward()\nopt.step()\n"
)


@pytest.fixture(scope="module")
def report() -> Report:
    return Report(traced(CELLS[4]), lang="en")


def pages(report: Report, **options: str) -> StepPages:
    return StepPages(report.picture, report.frames, report.trace.source, report.lang, **options)


def texts(svg: str) -> list[str]:
    """What can be read on a page."""
    return [
        "".join(one.itertext()).replace("\xa0", " ")
        for one in ElementTree.fromstring(svg).iter(f"{{{SVG}}}text")
        if one.get("visibility") != "hidden"
    ]


# ─── A page


@pytest.mark.parametrize("size", SIZES)
def test_no_word_is_small_in_the_strip_of_a_model(size):
    """Whatever a step marks, its update as well, which marks everything: that is shown in part, with its
    line in the lane. No head of a card is cut off where the step is about a card."""
    report = trace_source(MODEL, lang="en")[0]
    made = pages(report, size=size)
    font = SIZES[size].font
    assert [frame.phase for frame in made.frames][-1] == "update"
    begin = extent(StillPictures(report.picture, report.frames).at(1))[1]
    for step in range(1, len(made) + 1):
        (inner,) = ElementTree.fromstring(made.svg(step)).findall(f"{{{SVG}}}svg")
        _, top, width, height = map(float, inner.get("viewBox").split())
        assert float(inner.get("width")) / width * WORDS >= font * SMALLEST * 0.99, step
        assert top == begin or made.frames[step - 1].phase == "update", step
    tree = StillPictures(report.picture, report.frames).at(len(made))
    drop_legend(tree)
    assert top + height > float(tree.get("height")) - 60, "the lane is in view"


def test_the_lane_is_whole_where_the_picture_fits():
    """It begins left of the graph: with its first letters."""
    source = (
        "import minigrad as torch\nw = torch.tensor(1.0, requires_grad=True)\n"
        "opt = torch.optim.SGD([w], lr=0.1)\nloss = (w - 3) ** 2\n"
        "opt.zero_grad()\nloss.backward()\nopt.step()\n"
    )
    report = trace_source(source, lang="en")[0]
    made = pages(report)
    still = StillPictures(report.picture, report.frames).at(len(made))
    drop_legend(still)
    left, top, *_ = extent(still)
    assert left < 0, "the case that is looked at"
    (inner,) = ElementTree.fromstring(made.svg(len(made))).findall(f"{{{SVG}}}svg")
    assert next(map(float, inner.get("viewBox").split())) == left
    for page in Worksheet(report.picture, report.frames, source, "en").pages():
        (inner,) = ElementTree.fromstring(page).findall(f"{{{SVG}}}svg")
        assert list(map(float, inner.get("viewBox").split()))[:2] == [left, top]


@pytest.mark.parametrize("size", SIZES)
def test_no_word_is_small_and_nothing_is_known_too_early(size):
    report = trace_source(LAYER, lang="en")[0]
    made = pages(report, size=size)
    _, height, font = SIZES[size]
    for step, frame in enumerate(made.frames, 1):
        svg = made.svg(step)
        tree = ElementTree.fromstring(svg)
        (inner,) = tree.findall(f"{{{SVG}}}svg")
        scale = float(inner.get("width")) / float(inner.get("viewBox").split()[2])
        assert scale * WORDS >= font * SMALLEST * 0.99
        assert all(
            0 <= float(one.get("y")) <= height and float(one.get("font-size")) >= font * SMALLEST - 0.1
            for one in tree.findall(f"{{{SVG}}}text")
        )
        said = "".join(texts(svg))
        assert frame.text.split()[0] in said and f"{step} / {len(made)}" in said
    gradient = next(text for text in texts(made.svg(len(made))) if "-0.0719" in text)
    assert not any(gradient in texts(made.svg(step)) for step in range(1, len(made) // 2))


def test_what_a_step_is_about_is_in_view_of_a_large_picture():
    report = trace_source(LAYER, lang="en")[0]
    made = pages(report)
    for step in range(1, len(made) + 1):
        (inner,) = ElementTree.fromstring(made.svg(step)).findall(f"{{{SVG}}}svg")
        left, top, width, height = map(float, inner.get("viewBox").split())
        parts = {one.get("id", ""): one for one in inner.iter() if "station" in one.get("class", "").split()}
        active = [
            one for one in parts.values() if any("active" in c.get("class", "").split() for c in one.iter())
        ]
        for one in active:
            x, y = map(float, re.match(r"translate\((\S+) (\S+)\)", one.get("transform")).groups())
            assert left <= x <= left + width and top <= y <= top + height


def test_unknown_sizes_and_themes(report):
    with pytest.raises(ValueError, match="size must be one of slide, chat, not 'wall'"):
        pages(report, size="wall")
    with pytest.raises(ValueError, match="theme must be one of light, dark, not 'auto'"):
        pages(report, theme="auto")


# ─── Films


@pytest.mark.parametrize("kind, size, theme", [("gif", "chat", "light"), ("webp", "slide", "dark")])
def test_a_film_has_a_picture_for_each_step(tmp_path, report, kind, size, theme):
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("resvg_py")
    path = report.save(tmp_path / f"film.{kind}", size=size, theme=theme)
    assert path.stat().st_size < 2_000_000
    shown = []
    with image.open(path) as made:
        assert made.n_frames == len(report.frames) and made.size == SIZES[size][:2]
        for step in range(made.n_frames):
            made.seek(step)
            shown.append(made.convert("RGB").tobytes())
            assert film.BEATS[0] <= made.info["duration"] <= film.BEATS[1]
    assert len(set(shown)) == len(shown)
    assert (sum(shown[0][:3]) < 300) == (theme == "dark"), "its corner has the color behind the page"


def test_with_motion_there_are_pictures_between_the_steps(tmp_path, report):
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("resvg_py")
    path = report.save(tmp_path / "film.gif", size="chat", motion=True)
    assert path.stat().st_size < 2_000_000
    with image.open(path) as made:
        assert made.n_frames == len(report.frames) + film.BETWEEN * (len(report.frames) - 1)


def test_gradients_travel_along_their_arrows(report):
    """From the beginning of the arrow to their place, while all else stands still."""
    made = pages(report)
    flowing = [step for step in range(1, len(made) + 1) if made.flows(step)]
    assert flowing and flowing[0] > 1
    place = re.compile(r'<g class="pill active"[^>]*transform="translate\((-?[\d.]+) (-?[\d.]+)\)"')
    for step in flowing:
        shifts = [place.findall(made.svg(step, way)) for way in (0.25, 0.5, 1.0)]
        far, near = ([abs(float(x)) + abs(float(y)) for x, y in each] for each in shifts[:2])
        assert far == pytest.approx([1.5 * each for each in near], abs=0.2) and min(near) > 5
        assert shifts[2] == []
        assert place.sub("", made.svg(step, 0.5)).count("<rect") == made.svg(step).count("<rect")


def test_a_film_for_every_browser(tmp_path, report, monkeypatch):
    pytest.importorskip("resvg_py")
    pytest.importorskip("PIL")
    with monkeypatch.context() as lacking:
        lacking.setattr(film.shutil, "which", lambda name: None)
        with pytest.raises(LayoutUnavailable, match="needs the program ffmpeg"):
            report.save(tmp_path / "film.mp4")
    if shutil.which("ffmpeg") is None:
        pytest.skip("ffmpeg is not installed")
    path = report.save(tmp_path / "film.mp4", size="chat")
    said = subprocess.run(["ffmpeg", "-i", str(path)], capture_output=True, text=True, check=False).stderr
    assert "640x480" in said and "h264" in said


# ─── One step, and slides


def test_a_step_as_an_image(tmp_path, report):
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("resvg_py")
    pypdf = pytest.importorskip("pypdf")
    pytest.importorskip("svg2pdf_py")
    one, two = (image.open(report.save(tmp_path / f"{step}.png", step=step)) for step in (4, 5))
    with one, two:
        assert one.size == two.size and one.tobytes() != two.tobytes()
    words = pypdf.PdfReader(report.save(tmp_path / "step.pdf", step=4)).pages[0].extract_text()
    assert "0.008" in words and "0.6" not in words
    with pytest.raises(ValueError, match=r"step is for \.svg, \.png, \.pdf and \.tex files, not '.html'"):
        report.save(tmp_path / "step.html", step=4)


def test_slides(tmp_path, report):
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(report.slides(tmp_path / "cell.ipynb"), as_version=4)
    nbformat.validate(notebook)
    kinds = [cell.metadata.slideshow.slide_type for cell in notebook.cells]
    assert kinds == ["skip", "slide", "subslide", *["subslide"] * len(report.frames)]
    assert notebook.cells[2].outputs[0].data["text/html"]
    files = sorted(report.slides(tmp_path / "pieces").iterdir())
    assert [texts(file.read_text("utf-8"))[-1] for file in files][3].endswith("= 0.008")
    with pytest.raises(ValueError, match=r"cannot write slides as '\.odp'"):
        report.slides(tmp_path / "cell.odp")
    pypdf = pytest.importorskip("pypdf")
    pytest.importorskip("svg2pdf_py")
    read = pypdf.PdfReader(report.slides(tmp_path / "cell.pdf")).pages
    assert len(read) == len(report.frames) and "LogBackward" in read[3].extract_text()


# ─── TikZ


COMMAND = re.compile(
    r"  (?:\\definecolor\{mg[0-9A-F]{6}\}\{HTML\}\{[0-9A-F]{6}\}"
    r"|\\path\[[^\]]+\] \([-\d.,]+\)(?: (?:--|\.\.|and|controls|rectangle|cycle|\([-\d.,]+\)))*"
    r"(?: circle\[radius=[\d.]+pt\])?;"
    r"|\\node\[anchor=base(?: west| east)?,inner sep=0pt.*\] at \([-\d.,]+\) \{.*\};)"
)


def test_slides_as_tikz(tmp_path, report):
    """Every line is a command that TikZ knows; what is drawn and said is what the picture says."""
    written = report.slides(tmp_path / "cell.tex").read_text("utf-8")
    assert written.startswith(r"\documentclass[tikz") and written.endswith("\\end{document}\n")
    pictures = [one.partition(r"\end{tikzpicture}")[0] for one in written.split(r"\begin{tikzpicture}")[1:]]
    assert len(pictures) == len(report.frames)
    for step, picture in enumerate(pictures, 1):
        head, *lines = picture.rstrip("\n").split("\n")
        assert head == "[x=0.75pt,y=-0.75pt]"
        for line in lines:
            assert COMMAND.fullmatch(line), line
            bare = re.sub(r"\\[{}]", "", line)
            assert bare.count("{") == bare.count("}") and line.count("$") % 2 == 0, line
        used = set(re.findall(r"=mg([0-9A-F]{6})", picture))
        assert used == set(re.findall(r"definecolor\{mg([0-9A-F]{6})", picture))
        svg = StillPictures(report.picture, report.frames, "light").at(step)
        drop_legend(svg)
        seen = [tex(text) for text in texts(ElementTree.tostring(svg, encoding="unicode")) if text.strip()]
        nodes = [re.sub(r"\{\\[a-z\\]+ ([^{}]*)\}", r"\1", n) for n in re.findall(r"\) \{(.*)\};", picture)]
        plain = [node.replace("~", " ") for node in nodes]
        assert [text for text in seen if text not in plain] == []
        assert ("0.008" in picture) == (step >= 4), "nothing is known too early"
    assert r"$\frac{\partial z}{\partial y} = \frac{1}{y} = 0.008$" in written
    one = report.save(tmp_path / "step.tex", step=4).read_text("utf-8")
    assert one.startswith(r"\begin{tikzpicture}") and r"\frac{1}{y}" in one
    with pytest.raises(ValueError, match=r"cannot write '\.tex'"):
        report.save(tmp_path / "all.tex")


@pytest.mark.parametrize(
    ("plain", "escaped"),
    [
        ("a_b & 50% of {x} #1", r"a\_b \& 50\% of \{x\} \#1"),
        ("C:\\x^2~y $z", r"C:\textbackslash{}x\textasciicircum{}2\textasciitilde{}y \$z"),
        ("x̄ → ∂z/∂x = −3x²", r"$\bar{x}$ $\to$ $\partial$z/$\partial$x = $-$3x$^{2}$"),
        ("변수 é", "변수 é"),
    ],
)
def test_text_for_latex(plain, escaped):
    assert tex(plain) == escaped


@pytest.mark.parametrize(
    ("d", "shape"),
    [
        ("M0 7h4v2z", "(0,7) -- (4,7) -- (4,9) -- cycle"),
        ("M0 0a4 4 0 0 1 4 4", "(0,0) .. controls (2.2,0) and (4,1.8) .. (4,4)"),
        ("M4 0a4 4 0 0 0 -8 0", "(4,0) .. controls (4,-2.2) and (2.2,-4) .. (0,-4) "
         ".. controls (-2.2,-4) and (-4,-2.2) .. (-4,0)"),
    ],
)  # fmt: skip
def test_paths_for_tikz(d, shape):
    assert path_shape(ElementTree.Element("path", d=d), 0.0, 0.0) == shape


# ─── Worksheets


def test_the_sheet_leaves_out_what_the_key_has(report):
    sheet = Worksheet(report.picture, report.frames, report.trace.source, "en")
    assert [(b.about, b.answer) for b in sheet.blanks] == [
        ("gradient from z to y", "0.008"), ("gradient from y to x", "0.6"), ("x.grad", "0.6"),
    ]  # fmt: skip
    asked, key = ("\n".join(texts(page)) for page in sheet.pages())
    assert "0.008" in key and "0.6" in key
    assert "0.008" not in asked and "0.6" not in asked and asked.count("(1)") == 2
    assert "0.008" not in sheet.pages()[0], "not in a tooltip either"
    rows = re.findall(r'<text[^>]* y="([\d.]+)"[^>]*>\(\d\)\s', sheet.pages()[1])
    first, second, third = map(float, rows)
    assert second - first == third - second == LINE and third < PAPER[1], "one below the other"


@pytest.mark.parametrize(
    ("seed", "lang", "title"), [(1, "en", "# Fill"), (2, "ko", "# 빈칸"), (3, "ko", "# 빈칸")]
)
def test_a_sheet_with_other_numbers_is_solved_by_its_key(tmp_path, seed, lang, title):
    nbformat = pytest.importorskip("nbformat")
    report = trace_source(LAYER, lang=lang, live=True)[0]
    path = report.worksheet(tmp_path / "sheet.ipynb", seed=seed)
    again = report.worksheet(tmp_path / "again.ipynb", seed=seed)
    assert path.read_bytes() == again.read_bytes()
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = re.search(r"```python\n(.*?)\n```", notebook.cells[0].source, re.S)[1]
    assert code != LAYER.strip()
    names: dict[str, object] = {}
    exec(code, names)  # what the sheet asks a reader to compute
    asked = re.findall(r"^\d+\. (.*)$", notebook.cells[1].source, re.M)
    key = re.findall(r"^\d+\. `(.*)`$", notebook.cells[3].source, re.M)
    answers = dict(zip(asked, key, strict=True))
    for name in ("w", "b"):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", answers[f"{name}.grad"])]
        assert numbers == pytest.approx(names[name].grad.flatten().tolist(), rel=1e-3, abs=1e-5)
    assert notebook.cells[0].source.startswith(title)


def test_a_cell_without_gradients_has_no_worksheet(tmp_path):
    report = trace_source("import minigrad as torch\nx = torch.tensor(1.0, requires_grad=True)\ny = x * 2\n")[
        0
    ]
    with pytest.raises(ValueError, match=r"no gradients|변화도가 없습니다"):
        report.worksheet(tmp_path / "sheet.pdf")


def test_a_worksheet_on_paper(tmp_path, report):
    pypdf = pytest.importorskip("pypdf")
    pytest.importorskip("svg2pdf_py")
    asked, key = pypdf.PdfReader(report.worksheet(tmp_path / "sheet.pdf")).pages
    assert "0.008" in key.extract_text() and "0.008" not in asked.extract_text()
    assert [round(float(side)) for side in asked.mediabox[2:]] == [794, 1123]
