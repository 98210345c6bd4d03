"""JupyterLab, or Notebook 7, in headless Chromium: open a notebook, run it, look at it.

    with Lab("notebooks") as lab:
        page = lab.open("code_04.ipynb", theme="dark", width=1280)
        lab.run_all(page)
        lab.screenshot(page, "code_04.png")

`page` is a playwright page. The server listens on loopback only and everything it writes goes to a temporary
directory; the notebook's file is not changed. From a shell, a screenshot of a notebook after running it:

    python tests/browser/lab.py NOTEBOOK OUT.png [--dark] [--width N]
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.metadata
import shutil
import signal
import sys
import tempfile
import urllib.parse
from pathlib import Path
from typing import Any

from lab_server import PATIENCE, LabError, Server, wait_for

BROWSER_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing is loaded from anywhere else
]

# Whether the kernel has been idle for a moment: between two cells it is so for less.
IDLE = """async () => {
    const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
    if (kernel.status !== 'idle') return false;
    await new Promise(resolve => setTimeout(resolve, 250));
    return kernel.status === 'idle';
}"""

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


@functools.cache
def find_chromium() -> str | None:
    """The path of Chromium or Chrome, if there is one on PATH."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


def version(distribution: str) -> str | None:
    """The installed version of a distribution."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def missing() -> str:
    """What a browser test lacks here, as a sentence; empty if nothing."""
    lacks = [name for name in ("playwright", "jupyterlab") if version(name) is None]
    lacks += [] if find_chromium() else ["chromium"]
    return f"not installed: {', '.join(lacks)}" if lacks else ""


class Lab:
    """A JupyterLab server over `root` with a headless Chromium, both of which end with the `with` block.

    `errors` collects the uncaught JavaScript errors of all pages. One lab at a time: playwright's synchronous
    interface occupies the thread, so a fixture must not be wider than its class or module.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve()
        self.errors: list[str] = []
        self.server: Server
        self.browser: Any  # playwright.sync_api.Browser
        self._exit = contextlib.ExitStack()
        self._pages: dict[str, Any] = {}
        self._opened = 0

    def __enter__(self) -> Lab:
        if lacks := missing():
            raise LabError(lacks)
        from playwright.sync_api import sync_playwright

        with contextlib.ExitStack() as started:
            scratch = started.enter_context(
                tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True)
            )
            self.server = Server(self.root, Path(scratch))
            started.callback(self.server.stop)
            playwright = started.enter_context(sync_playwright())
            self.browser = playwright.chromium.launch(executable_path=find_chromium(), args=BROWSER_OPTIONS)
            started.callback(self.browser.close)
            wait_for(self.server.ready, "JupyterLab has started")
            self._exit = started.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._exit.close()

    def open(
        self,
        notebook: str,
        *,
        theme: str = "light",
        width: int = 1280,
        height: int = 1600,
        app: str = "lab",
    ) -> Any:
        """Open a notebook (its path below the root); return the page once its kernel can run cells.

        The page has a viewport of `width` by `height` CSS pixels and a new kernel; an earlier page of the
        same notebook is closed. `app` is "lab", or "notebook" for Notebook 7, which the same server serves.
        LabError if there is no such notebook.
        """
        if not (self.root / notebook).is_file():
            raise LabError(f"there is no notebook {notebook!r}")
        if notebook in self._pages:
            earlier = self._pages.pop(notebook)
            earlier.evaluate("jupyterapp.shell.currentWidget.sessionContext.shutdown()")
            earlier.context.close()
        self.server.configure("apputils-extension/themes", {"theme": THEMES[theme], "adaptive-theme": False})
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            reduced_motion="reduce",
            locale="en-US",
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)

        def note(error: Exception) -> None:
            self.errors.append(str(error))

        if app == "lab":  # Notebook 7 has errors of its own while it loads
            page.on("pageerror", note)
        self._opened += 1  # a workspace for each page, or it would open the other page's notebooks as well
        place = "notebooks" if app == "notebook" else f"doc/workspaces/page-{self._opened}/tree"
        page.goto(f"{self.server.url}/{place}/{urllib.parse.quote(notebook)}")
        page.wait_for_function("window.jupyterapp && window.jupyterapp.restored.then(() => true)")
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
        wait_for(lambda: self.server.idle_kernel(notebook), f"the kernel of {notebook} is connected and idle")
        # The page may not have it yet, and would run no cell.
        kernel = "jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel"
        page.wait_for_function(f"{kernel}?.connectionStatus === 'connected'")
        self._pages[notebook] = page
        if app == "notebook":
            page.on("pageerror", note)
        return page

    def run_all(self, page: Any, timeout: float = 120.0) -> list[str]:
        """Unfold all headings, clear all outputs, run all cells, wait until the page stands still and return
        the errors raised.

        JupyterLab stops at the first error, unless its cell is tagged `raises-exception`. LabError after
        `timeout` seconds, or if JupyterLab shows a dialog instead.
        """
        page.evaluate(
            """async () => {
                window.labRun = 'running';
                await jupyterapp.commands.execute('notebook:expand-all-headings');
                await jupyterapp.commands.execute('notebook:clear-all-cell-outputs');
                jupyterapp.commands.execute('notebook:run-all-cells').then(
                    () => { window.labRun = 'done'; }, error => { window.labRun = String(error); });
            }"""
        )

        def ended() -> str:
            if dialogs := page.locator(".jp-Dialog-content").all_inner_texts():
                raise LabError(f"JupyterLab asks: {dialogs[0]}")
            state = page.evaluate("window.labRun")
            return "" if state == "running" else state

        if (state := wait_for(ended, "all cells have run", timeout)) != "done":
            raise LabError(f"running all cells: {state}")
        # The command may end at an expected error, while cells after it still wait for the kernel.
        wait_for(lambda: page.evaluate(IDLE), "the kernel is idle", timeout)
        page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex = 0")  # back to the top
        self.settle(page)
        return page.evaluate(
            """() => jupyterapp.shell.currentWidget.context.model.toJSON().cells
                .flatMap(cell => cell.outputs ?? [])
                .filter(output => output.output_type === 'error')
                .map(output => `${output.ename}: ${output.evalue}`)"""
        )

    def settle(self, page: Any, quiet: float = 0.3) -> None:
        """Wait until fonts and images are there and nothing has changed for `quiet` seconds (5 s at most)."""
        page.evaluate(
            """async quiet => {
                await document.fonts.ready;
                await Promise.all([...document.images].map(image => image.decode().catch(() => null)));
                await new Promise(resolve => {
                    const end = () => { observer.disconnect(); resolve(); };
                    let timer = setTimeout(end, quiet);
                    const again = () => { clearTimeout(timer); timer = setTimeout(end, quiet); };
                    const observer = new MutationObserver(again);
                    observer.observe(document.body, {subtree: true, childList: true, attributes: true});
                    setTimeout(end, 5000);
                });
            }""",
            quiet * 1000,
        )

    def screenshot(self, page: Any, path: str | Path, *, whole: bool = False) -> None:
        """Write what the page shows as PNG; with `whole`, in a viewport as high as the notebook needs."""
        if whole:
            hidden = page.evaluate(
                """() => Math.max(...[...document.querySelectorAll('.jp-WindowedPanel-outer')]
                    .map(panel => panel.scrollHeight - panel.clientHeight))"""
            )
            size = page.viewport_size
            page.set_viewport_size({"width": size["width"], "height": size["height"] + max(0, int(hidden))})
            self.settle(page)
        page.screenshot(path=str(path))


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Run a notebook in JupyterLab and take a screenshot of it all."
    )
    parser.add_argument("notebook", type=Path)
    parser.add_argument("picture", type=Path, metavar="OUT.png")
    parser.add_argument("--dark", action="store_true", help="JupyterLab's dark theme")
    parser.add_argument("--width", type=int, default=1280, help="of the page, in pixels (default: 1280)")
    parser.add_argument("--height", type=int, default=800, help="the least, in pixels (default: 800)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # which stops the server and the browser, too
    notebook = options.notebook.resolve()
    if not notebook.is_file():
        parser.error(f"there is no notebook {options.notebook}")
    try:
        with Lab(notebook.parent) as lab:
            theme = "dark" if options.dark else "light"
            page = lab.open(notebook.name, theme=theme, width=options.width, height=options.height)
            raised = lab.run_all(page)
            lab.screenshot(page, options.picture, whole=True)
    except LabError as error:
        print(f"lab.py: {error}", file=sys.stderr)
        return 2
    print("\n".join([str(options.picture), *(f"  a cell raised {error}" for error in raised)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
