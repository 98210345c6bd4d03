"""`python frames.py FOLDER [--full]`: write pages with players that are stepped through frame by frame.

A sample: cells of every kind, a failed one, a loop, a model, and some programs of `real/`. In full: all of
these programs and every cell of the course, each with its exercises solved.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
CODES = (3, 6, 9, 11, 16, 18)
REAL = ("poly_module", "scalar_net", "conv_net", "schedule")
LOOP = (
    "w = torch.tensor(0.0, requires_grad=True)\nb = torch.tensor(0.0, requires_grad=True)\n"
    "X, Y = torch.tensor([0.0, 1.0, 2.0, 3.0]), torch.tensor([1.0, 2.5, 5.0, 6.5])\n"
    "for i in range(20):\n    err = w * X + b - Y\n    loss = (err ** 2).mean()\n    loss.backward()\n"
    "    with torch.no_grad():\n        w -= 0.02 * w.grad\n        b -= 0.02 * b.grad\n"
    "    w.grad = b.grad = None\n"
)
MODEL = (
    "torch.manual_seed(0)\nnn = torch.nn\nx, t = torch.randn(3, 2), torch.tensor([0, 1, 0])\n"
    "model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))\n"
    "opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "loss = nn.functional.cross_entropy(model(x), t)\nloss.backward()\nopt.step()\n"
)

# What is counted in every frame of the act that is shown.
COUNT = """() => {
    const root = document.querySelector('.mgp'), view = root.querySelector('.mgp-view');
    const slider = root.querySelector('input[type=range]'), caption = root.querySelector('.mgp-caption');
    const found = {frames: 0, caption: 0, station: 0, small: {}, pills: 0, covered: []};
    const box = (part) => part.getBoundingClientRect();
    const apart = (a, b, by) => a.right <= b.left + by || b.right <= a.left + by
        || a.bottom <= b.top + by || b.bottom <= a.top + by;
    const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1
        && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
    const page = {left: 0, top: 0, right: innerWidth, bottom: innerHeight};
    const seen = () => {
        const {left, right, top, bottom} = box(view);
        return {left, right, top: Math.max(top, 0), bottom: Math.min(bottom, innerHeight)};
    };
    const small = (scale, parts) => {
        for (const part of parts) {
            if (!part.textContent.trim() || !part.getClientRects().length) continue;
            const size = Math.round(10 * parseFloat(getComputedStyle(part).fontSize) * scale) / 10;
            if (size < 11) found.small[part.getAttribute('class') || part.localName] = size;
        }
    };
    const current = '.card.active > .box, .deck.active > .box, .update.active > .box';
    scrollTo(0, 0);
    for (let step = 0; step <= Number(slider.max); step++) {
        slider.value = step;
        slider.dispatchEvent(new Event('input', {bubbles: true}));
        found.frames++;
        const main = caption.querySelector('.mgp-main'), formula = main.firstElementChild;
        const whole = [caption, main, formula].every((one) => one.scrollHeight <= one.clientHeight + 4);
        const wide = formula.scrollWidth > main.clientWidth + 1;
        if (!whole || wide || !inside(box(caption), page)) found.caption++;
        const sight = seen();
        const active = [...view.querySelectorAll(current)].map(box);
        const room = (one) => one.width < sight.right - sight.left && one.height < sight.bottom - sight.top;
        const shown = (one) => room(one) ? inside(one, sight) : !apart(one, sight, 0);
        if (active.length && !active.some(shown)) found.station++;
        if (step === 0 || step === Number(slider.max) || step % 7 === 3)
            small(1, root.querySelectorAll('.mgp-top :is(span, div, i, b, code, sup, sub):not(:has(*))'));
    }
    const svg = view.querySelector(':scope > svg');
    if (!svg) return found;
    small(box(svg).width / svg.viewBox.baseVal.width, svg.querySelectorAll('text'));
    const boxed = (parts) => [...svg.querySelectorAll(parts)].map((part) => [part, box(part)]);
    const things = [...boxed('.station .card > .box, .station .deck > .box'), ...boxed('text.shape')];
    const pills = boxed('.pill');
    found.pills = pills.length;
    pills.forEach(([pill, mine], i) => {
        const over = [...things, ...pills.slice(i + 1)].find(([, other]) => !apart(mine, other, 1.5));
        if (over) found.covered.push(`${pill.id} over ${over[0].closest('[id]')?.id ?? over[0].textContent}`);
    });
    return found;
}"""


def measured(page: Any, whole: bool) -> list[dict[str, Any]]:
    """What is counted in the frames of the act that is shown; in those of all acts with `whole`."""
    acts = page.locator(".mgp-acts option").count() if whole else 0
    counted = []
    for act in range(acts or 1):
        if acts:
            page.locator(".mgp-acts select").select_option(str(act))
            page.wait_for_timeout(50)
        counted.append(page.evaluate(COUNT))
    return counted


def sample() -> dict[str, str]:
    """The players of the sample, by name."""
    from cells import CELLS, traced

    from minigrad_viz.shell.report import Report

    sources = {f"code {code}": CELLS[code] for code in CODES} | {"loop": LOOP, "model": MODEL}
    return {name: Report(traced(source), lang="en").html(table=False) for name, source in sources.items()}


def programs(names: Any = None) -> dict[str, str]:
    """The players of the programs of `real/`."""
    import torch
    from shells import Shell

    found = {}
    with tempfile.TemporaryDirectory() as folder, Shell(Path(folder)) as shell:
        for path in sorted((TESTS / "real").glob("*.py")):
            if names is None or path.stem in names:
                source = path.read_text(encoding="utf-8")
                found |= displayed(path.stem, shell.run(f"%%autograd --no-table\n{source}", {}, torch))
                shell.clear()
    return found


def lessons() -> dict[str, str]:
    """The players of the course."""
    import course
    from shells import Shell

    import minigrad

    found = {}
    with tempfile.TemporaryDirectory() as folder, Shell(Path(folder)) as shell:
        for name in course.ALL:
            shell.clear()
            for cell in course.solved(name):
                source = re.sub(r"^%load_ext .*\n", "", cell.source, flags=re.M)
                found |= displayed(f"{name} {cell.id}", shell.run(source, {}, minigrad))
    return found


def displayed(name: str, ran: Any) -> dict[str, str]:
    """The players that a cell displayed."""
    pages = [shown.get("data", shown).get("text/html", "") for shown in ran.displayed]
    return {f"{name} {i}".removesuffix(" 0"): page for i, page in enumerate(pages) if "data-mgp" in page}


def main(folder: Path, full: bool) -> None:
    import minigrad

    sys.path[:0] = [str(TESTS), str(TESTS / "helpers")]
    minigrad.install_as_torch()
    found = sample() | programs(None if full else REAL) | (lessons() if full else {})
    for name, body in found.items():
        page = f"<!doctype html><meta charset=utf-8><title>{name}</title><body style='margin:8px'>{body}"
        (folder / f"{name}.html").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--full" in sys.argv)
