"""Take the pictures of the player in these pages from a real run: `python docs/screenshots.py`.

`screenshot.png` is one step, `player.webp` all steps, one and a half seconds each. The script needs
playwright, Pillow and Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

CELL = """\
import minigrad as torch
x = torch.tensor(5.0, requires_grad=True)
y = x ** 3
w = x ** 2
z = torch.log(y) + torch.sqrt(w)
z.backward()
"""
STEP = 11  # at which the gradient through y reaches x
FOLDER = Path(__file__).parent


def shoot(page: Page, step: int, address: str) -> Image.Image:
    """Return the player at a step as an image."""
    page.goto(f"{address}#step={step}")
    page.reload()
    page.wait_for_timeout(1200)  # until the motion has ended
    return Image.open(BytesIO(page.locator("[data-mgp]").first.screenshot()))


def main() -> None:
    """Run the cell, step through its player, and write both files."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        cell, path = Path(folder) / "cell.py", Path(folder) / "page.html"
        cell.write_text(CELL, encoding="utf-8")
        subprocess.run([sys.executable, "-m", "minigrad_viz", cell, "-o", path], check=True)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1040, "height": 700}, device_scale_factor=2)
        shoot(page, STEP, path.as_uri()).save(FOLDER / "screenshot.png", optimize=True)
        page = browser.new_page(viewport={"width": 1040, "height": 700})
        steps = [shoot(page, step, path.as_uri()) for step in range(1, 13)]
        browser.close()
    first, *others = steps
    first.save(FOLDER / "player.webp", save_all=True, append_images=others, duration=1500, loop=0, quality=80)


if __name__ == "__main__":
    main()
