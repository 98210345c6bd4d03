"""Take the pictures of the player in these pages from a real run: `python docs/screenshots.py`.

`screenshot.png` is one step, `player.webp` all steps, one and a half seconds each; `live.png`,
`predict.png`, `compare.png`, `training.png` and `model.png` are what the other pages tell about. The script
needs playwright, Pillow and Chromium, and JupyterLab for the training, which a kernel computes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import nbformat
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from minigrad_viz.shell.run import trace_source

CELL = """\
import minigrad as torch
x = torch.tensor(5.0, requires_grad=True)
y = x ** 3
w = x ** 2
z = torch.log(y) + torch.sqrt(w)
z.backward()
"""
COMPARED = """\
import minigrad as torch
from minigrad_viz import compare, record

with record(lang="en") as attached:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    z = y * x
    z.backward()

with record(lang="en") as detached:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    z = y.detach() * x
    z.backward()
compare(attached, detached).save("compare.html")
"""
TRAINED = """\
%%autograd --lang en --step --live --no-table --no-ledger
w, b = torch.tensor(0.0, requires_grad=True), torch.tensor(0.0, requires_grad=True)
X, Y = torch.tensor([0.0, 1.0, 2.0, 3.0]), torch.tensor([1.0, 2.5, 5.0, 6.5])
for i in range(4):
    err = w * X + b - Y
    loss = (err ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.02 * w.grad
        b -= 0.02 * b.grad
    w.grad = b.grad = None
"""
MODEL = """\
import minigrad as torch
from minigrad import nn
torch.manual_seed(0)
X = torch.randn(80, 2)
y = (X[:, 0] * X[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(12):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X), y)
    loss.backward()
    optimizer.step()
"""
STEP = 11  # at which the gradient through y reaches x
FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "tests" / "browser"))


def image(part: Locator) -> Image.Image:
    """Part of a page as an image."""
    return Image.open(BytesIO(part.first.screenshot()))


def shoot(page: Page, step: int, address: str) -> Image.Image:
    """Return the player at a step as an image."""
    page.goto(f"{address}#step={step}")
    page.reload()
    page.wait_for_timeout(1200)  # until the motion has ended
    return image(page.locator("[data-mgp]"))


def small(picture: Image.Image, name: str) -> None:
    """Write an image of a few colors."""
    picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(FOLDER / name, optimize=True)


def touched(browser: Browser, folder: Path) -> None:
    """The pages on which a reader moves a number, predicts, and compares."""
    page = browser.new_page(viewport={"width": 1040, "height": 1000}, device_scale_factor=1.5)
    page.goto(traced(folder, live=True))
    slider = page.locator(".mgp-slider")
    slider.press("PageDown")
    slider.press("ArrowLeft")
    page.locator(".mgp-said", has_text="x = 3.8").wait_for()
    small(image(page.locator("[data-mgp]")), "live.png")
    page.goto(traced(folder, predict=True))
    page.locator(".mgp-ask input").focus()
    for typed in (
        "x",
        "b",
        "0.1",
        "0.6",
    ):  # leaves, the next node, what it passes on, and then half of x.grad
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        if typed != "0.6":
            page.keyboard.press("Enter")
            page.keyboard.press("End")
    page.locator(".mgp-ask", has_text="You followed the path").wait_for()
    small(image(page.locator("[data-mgp]")), "predict.png")
    (folder / "compared.py").write_text(COMPARED, encoding="utf-8")
    subprocess.run([sys.executable, "compared.py"], check=True, cwd=folder)
    page.goto((folder / "compare.html").as_uri())
    small(image(page.locator("body")), "compare.png")
    page.close()


def modeled(browser: Browser, folder: Path) -> None:
    """A model in a loop: the strip, the inside of a layer in backward, and the plane with the border."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    report, _ = trace_source(MODEL, lang="en")
    page.goto(f"{report.save(folder / 'model.html', table=False).as_uri()}")
    page.locator(".mgp-acts select").select_option(label="round 8 of 12")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(1200)
    small(image(page.locator("[data-mgp]")), "model.png")
    page.close()


def traced(folder: Path, **options: bool) -> str:
    """The address of a page of the cell."""
    report, _ = trace_source(CELL, lang="en", **options)
    return report.save(folder / "page.html").as_uri()


def trained(folder: Path) -> None:
    """A widget in JupyterLab after ten more rounds."""
    from lab import Lab
    from lab_notebook import write

    start = "import minigrad_viz\n%load_ext minigrad_viz\nimport minigrad as torch"
    write(folder / "training.ipynb", [nbformat.v4.new_code_cell(source) for source in (start, TRAINED)])
    with Lab(folder) as lab:
        page = lab.open("training.ipynb", width=1460, height=1500)
        lab.run_all(page)
        page.locator("button", has_text="Ten more").click()
        page.locator(".mgp-training p", has_text="In round 14").wait_for()
        small(image(page.locator(".mgp")), "training.png")


def main() -> None:
    """Run the cells, and write all files."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with sync_playwright() as playwright:
            address = traced(folder)
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page(viewport={"width": 1040, "height": 700}, device_scale_factor=2)
            shoot(page, STEP, address).save(FOLDER / "screenshot.png", optimize=True)
            page = browser.new_page(viewport={"width": 1040, "height": 700})
            first, *others = [shoot(page, step, address) for step in range(1, 13)]
            touched(browser, folder)
            modeled(browser, folder)
            browser.close()
        trained(folder)
    first.save(FOLDER / "player.webp", save_all=True, append_images=others, duration=1500, loop=0, quality=80)


if __name__ == "__main__":
    main()
