"""A reactive notebook: marimo shows pictures, the player as an anywidget, and the report of `record()`."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from lab import missing
from lab_server import free_port, wait_for

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.skipif(importlib.util.find_spec("marimo") is None, reason="marimo is not installed"),
]

NOTEBOOK = """
import marimo

app = marimo.App()


@app.cell
def _():
    import minigrad as torch
    import minigrad_viz

    x = torch.tensor(5.0, requires_grad=True)
    z = torch.log(x**3)
    z.backward()
    return minigrad_viz, torch, z


@app.cell
def _(minigrad_viz, z):
    minigrad_viz.draw(z)
    return


@app.cell
def _(minigrad_viz, z):
    minigrad_viz.stepper(z)
    return


@app.cell
def _(minigrad_viz, torch):
    with minigrad_viz.record() as recorded:
        a = torch.tensor(2.0, requires_grad=True)
        b = a * a
        b.backward()
    recorded
    return
"""


def answers(address: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where marimo shows the notebook: on loopback, as long as the tests of this file run."""
    folder = tmp_path_factory.mktemp("marimo")
    (folder / "notebook.py").write_text(NOTEBOOK, encoding="utf-8")
    port = free_port()
    options = ["--headless", "--no-token", "--host", "127.0.0.1", "--port", str(port)]
    command = [sys.executable, "-m", "marimo", "run", "notebook.py", *options]
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            wait_for(lambda: answers(f"http://127.0.0.1:{port}/health"), "marimo does not start")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(30)


def test_marimo_shows_pictures_and_the_player(browser, address):
    page = browser.new_page(viewport={"width": 1100, "height": 1400})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route("**/*", lambda route: route.continue_() if address in route.request.url else route.abort())
    try:
        page.goto(address)
        player = page.locator(".mgp")
        player.locator("svg.mg").first.wait_for()
        page.get_by_text("State of the tensors", exact=True).wait_for()
        assert page.locator("img[src^='data:image/svg']").count() == 2  # the picture, and that of the report
        caption = player.locator(".mgp-say")
        before = caption.inner_text()
        for _ in range(3):
            player.get_by_role("button", name="Next").click()
        assert caption.inner_text() != before
        assert "z" in caption.inner_text()
        assert errors == []
    finally:
        page.close()
