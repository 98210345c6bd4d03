"""Outputs in frames like those of hosted notebooks, which restrict pages and run scripts elsewhere."""

from __future__ import annotations

import html as escaping
import json

import pytest
from cells import CELLS, traced
from lab import missing

from minigrad_viz.shell.report import Report

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

# VS Code's notebooks, with the policy that they can switch on; each script runs at the end of the output.
VSCODE = """<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';
 script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src https: http: data:;
 connect-src https:; child-src https: data:"></head>
<body class="vscode-dark" data-vscode-theme-kind="vscode-dark"><script>
const output = document.body.appendChild(document.createElement("div"));
output.innerHTML = $OUTPUT;
for (const script of [...output.getElementsByTagName("script")]) {
  const copy = document.createElement("script");
  copy.text = script.innerText;
  output.appendChild(copy).parentNode.removeChild(copy);
}
</script></body></html>"""

# Colab's: a frame of another origin, without access to storage; scripts run where they stand.
COLAB = """<!doctype html><html theme="dark"><head><meta charset="utf-8"></head><body><script>
document.body.append(document.createRange().createContextualFragment($OUTPUT));
</script></body></html>"""

# The sandbox of each frame.
FRAMES = {
    "VS Code": (VSCODE, "allow-scripts allow-same-origin allow-forms allow-pointer-lock allow-downloads"),
    "Colab": (COLAB, "allow-scripts allow-forms allow-popups allow-downloads"),
}


@pytest.fixture(params=FRAMES)
def framed(request, visit, tmp_path):
    """Opens HTML as an output of such a notebook; its frame, in which nothing may be refused."""
    page_of, sandbox = FRAMES[request.param]
    refused: list[str] = []

    def framed(output: str):
        literal = json.dumps(output).replace("</", "<\\/")
        inner = escaping.escape(page_of.replace("$OUTPUT", literal), quote=True)
        outer = tmp_path / "page.html"
        outer.write_text(
            f"<!doctype html><meta charset=utf-8><body>"
            f'<iframe sandbox="{sandbox}" srcdoc="{inner}" style="width:960px;height:760px"></iframe>',
            encoding="utf-8",
        )
        page = visit(outer)
        page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
        return page.frame_locator("iframe")

    yield framed
    assert refused == []


def test_the_player_steps(framed):
    frame = framed(Report(traced(CELLS[4]), lang="en").html())
    frame.locator(".mgp svg.mg").wait_for()
    before = frame.locator(".mgp-label").inner_text()
    frame.locator(".mgp-view").press("ArrowRight")
    assert frame.locator(".mgp-label").inner_text() != before
    assert frame.locator("table.mgt").is_visible()


def test_a_still_picture_follows_the_theme(framed):
    frame = framed(Report(traced(CELLS[4]), lang="en").html("static"))
    frame.locator("svg.mg").wait_for()
    paper = "() => getComputedStyle(document.querySelector('svg.mg .paper')).fill"
    assert frame.locator("svg.mg").evaluate(paper) == "rgb(17, 20, 24)"
    assert frame.locator("img").count() == 0
