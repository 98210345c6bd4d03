"""Two runs side by side: where they first differ, and what became of it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import isclose
from pathlib import Path
from typing import Any

from ..drawing.layout import LayoutError
from ..drawing.sheets import Cell, Sheet
from ..drawing.still import resolved, swapped, whole_page
from ..numbers import number, short
from ..protocol import Value
from ..trace.events import Snapshot, Trace
from ..trace.graph import Graph
from ..trace.jsonable import plain
from ..words import language, text
from .deeds import PASSED, Deed
from .differences import VALUE, Aligned, aligned, given_first, near
from .run_told import Run, moments
from .side_by_side import both, drawn, near_to

BEFORE, AFTER = 3, 2  # deeds around the difference that a terminal shows
ROWS = 8  # tensors that were not the same in the end
ENDINGS = (".html", ".json", ".txt")
CODE = re.compile("`([^`]*)`")
STYLE = (
    "<style>.mgc{display:flex;flex-wrap:wrap;gap:16px}.mgc figure{margin:0;min-width:0;max-width:100%}"
    ".mgc figcaption,.mgc-said{font:13px/1.5 system-ui,sans-serif;margin:.3em 0}"
    ".mgc figcaption{font-weight:600}.mgc-said b{font-weight:600}.mgc-said code{font-size:inherit}</style>"
)


class Comparison:
    """The runs `a` and `b`, called by `names`. It shows itself in a notebook and in a terminal; `difference`
    is the first thing that was not the same (None if there is none)."""

    def __init__(
        self, a: Trace, b: Trace, names: Sequence[str] = ("", ""), *,
        lang: str | None = None, theme: str = "auto",
    ) -> None:  # fmt: skip
        self.lang = lang = lang or language()
        self.theme, self.names = theme, names
        self.a, self.b = Run(a, "A", lang), Run(b, "B", lang)
        if a.library != b.library:
            self.a.deeds, self.b.deeds = map(given_first, (self.a.deeds, self.b.deeds))
        self.aligned: Aligned = aligned(self.a.deeds, self.b.deeds)
        self.difference = self.aligned.difference

    # ── what is said ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def sentence(self) -> str:
        """Where the runs first differ, and what each of them did there."""
        found = self.difference
        if found is None:
            return text("compare_same", self.lang, n=self.aligned.alike)
        a, b = self.a.told(found.a, found), self.b.told(found.b, found)
        return text("compare_first", self.lang, a=a, b=b)

    @property
    def notes(self) -> list[str]:
        """What else is to be known: that rounds were only counted, and that the numbers have different
        dtypes."""
        lang, found = self.lang, []
        first = self.first_round()
        if first is not None:
            n, *values = first
            a, b = (number(value) for value in values)
            found.append(text("compare_rounds", lang, n=n, a=a, b=b))
        kinds = [sorted(set(dtypes(run))) for run in (self.a, self.b)]
        if kinds[0] != kinds[1]:
            a, b = (", ".join(each) for each in kinds)
            found.append(text("compare_dtypes", lang, a=a, b=b))
        return found

    def first_round(self) -> tuple[int, float, float] | None:
        """The backward call whose root differs first, and both values, if that was before the calls that are
        recorded: of a long loop these are the newest."""
        kept = min(run.scenes.calls[0] for run in (self.a, self.b))
        rounds = zip(self.a.trace.rounds[: max(kept - 1, 0)], self.b.trace.rounds, strict=False)
        for n, (x, y) in enumerate(rounds, 1):
            if x is not None and y is not None and not isclose(x, y, rel_tol=1e-5, abs_tol=1e-7):
                return n, x, y
        return None

    def title(self, run: Run) -> str:
        """What a run is called."""
        name = self.names[run is self.b]
        return text("compare_run", self.lang, run=run.label, name=name) if name else run.label

    @cached_property
    def sheet(self) -> Sheet:
        """The values and gradients that were not the same in the end."""
        rows = [(Cell(name), Cell(a), Cell(b, "c")) for name, a, b in self.ends()]
        heads = [text("compare_tensor", self.lang), self.title(self.a), self.title(self.b)]
        left = [text("ledger_tensors_left_out", self.lang, n=len(rows) - ROWS)] if len(rows) > ROWS else []
        return Sheet(text("compare_ends", self.lang), heads, [[row] for row in rows[:ROWS]], left, self.lang)

    def ends(self) -> Iterator[tuple[str, str, str]]:
        """What is not the same in the end, by the name of the tensor."""
        a, b = last_of(self.a.trace), last_of(self.b.trace)
        for name in a:
            for what, mine, other in zip((name, f"{name}.grad"), a[name], b.get(name, a[name]), strict=True):
                if not near(mine, other):
                    yield what, said(mine), said(other)

    def around(self, run: Run) -> list[str]:
        """The deeds of a run around the difference, one a line."""
        at, deeds = self.aligned.alike, run.deeds
        lines = [f"  {run.line(deed)}" for deed in deeds[max(0, at - BEFORE) : at]]
        lines.append(f"▶ {run.told(deeds[at] if at < len(deeds) else None, self.difference)}")
        return lines + [f"  {run.line(deed)}" for deed in deeds[at + 1 : at + 1 + AFTER]]

    def text(self) -> str:
        """The comparison in words."""
        parts = ["\n".join([self.sentence, *self.notes])]
        if self.difference is not None:
            parts += ["\n".join([self.title(run), *self.around(run)]) for run in (self.a, self.b)]
        return "\n\n".join([*parts, *([self.sheet.text()] if self.sheet else [])])

    # ── what is drawn ───────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def graphs(self) -> list[tuple[Graph, Graph]]:
        """Of each run the graph with the difference, and the part of it that is drawn."""
        found = self.difference
        deeds = (None, None) if found is None else (found.a, found.b)
        graphs = []
        for run, deed in zip((self.a, self.b), deeds, strict=True):
            scene, graph = run.scene(deed), run.graph(deed)
            at = [scene.at[id][0].id for id in (deed.tensors if deed else ()) if id in scene.at]
            graphs.append((graph, near_to(graph, at)))
        return graphs

    def left_out(self) -> list[str]:
        """That of a large graph only a part is drawn."""
        sizes = [(len(near.stations), len(graph.stations)) for graph, near in self.graphs]
        drawn, whole = max(sizes, key=lambda size: size[1])
        return [text("compare_near", self.lang, n=drawn, all=whole)] if drawn < whole else []

    def svgs(self) -> tuple[str, str] | None:
        """Both pictures on one layout; None where they cannot be drawn."""
        found = self.difference
        deeds = (None, None) if found is None else (found.a, found.b)
        graphs = [near for _, near in self.graphs]
        if not all(graph.stations for graph in graphs):
            return None
        pair = both(graphs[0], graphs[1], self.aligned.pairs)
        lit = [self.lit(deed, graph) for deed, graph in zip(deeds, (pair.a, pair.b), strict=True)]
        try:
            return drawn(pair, lit, lang=self.lang, theme=self.theme)
        except LayoutError:
            return None

    def lit(self, deed: Deed | None, graph: Graph) -> set[str] | None:
        """The parts of a picture that show the difference; None if the runs are the same."""
        if self.difference is None:
            return None
        about = set() if deed is None else set(deed.tensors)
        found = {station.id for station, card in graph.cards() if card.id in about}
        now = () if deed is None else moments(deed)
        found |= {update.id for update in graph.updates if not set(update.times).isdisjoint(now)}
        if deed is None or deed.kind != PASSED:
            inward = [r for r in graph.routes if r.target in found]
            return found | {route.id for route in inward}
        index = self.difference.at - deed.received if self.difference.what == VALUE else -1
        for station in graph.stations:
            if station.id in found and station.deck is not None and 0 <= index < len(station.deck.inputs):
                route = station.deck.inputs[index]
                found |= {f"{route}-g", f"{route}-p"} if route else set()
        return found

    def html(self) -> str:
        """The comparison for a page."""
        svgs = self.svgs()
        told = [*self.notes, *(self.left_out() if svgs else [])]
        notes = "".join(f"<br>{html.escape(note)}" for note in told)
        first = CODE.sub(r"<code>\1</code>", html.escape(self.sentence))
        said = f'<p class="mgc-said"><b>{first}</b>{notes}</p>'
        if svgs is None:
            shown = f"<pre>{html.escape(self.text())}</pre>"
        else:
            shown = '<div class="mgc">' + "".join(
                f"<figure><figcaption>{html.escape(self.title(run))}</figcaption>"
                f"{swapped(svg, chr(10).join(self.around(run)))}</figure>"
                for run, svg in zip((self.a, self.b), svgs, strict=True)
            ) + "</div>"  # fmt: skip
        return STYLE + said + shown + (self.sheet.html() if self.sheet else "")

    def to_json(self) -> str:
        """The comparison as JSON: the sentence, the deeds that differ, and what was not the same in the
        end."""
        found = self.difference
        deeds = (None, None) if found is None else (found.a, found.b)
        data = {
            "runs": [self.title(self.a), self.title(self.b)],
            "same": self.aligned.alike,
            "sentence": self.sentence,
            "notes": self.notes,
            "difference": None if found is None else found.what,
            **{key: None if deed is None else plain(deed) for key, deed in zip("ab", deeds, strict=True)},
            "ends": [list(row) for row in self.ends()],
        }
        return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)

    def save(self, path: str | Path, **_: Any) -> Path:
        """Write the comparison as .html, .txt or .json, or both pictures as NAME-a.svg and NAME-b.svg;
        ValueError for other endings, RuntimeError where there is no picture."""
        path = Path(path)
        kind = path.suffix.lower()
        if kind == ".html":
            page = whole_page(text("compare_title", self.lang), self.html(), self.lang)
            path.write_text(page, encoding="utf-8")
        elif kind == ".json":
            path.write_text(self.to_json() + "\n", encoding="utf-8")
        elif kind == ".txt":
            path.write_text(self.text() + "\n", encoding="utf-8")
        elif kind == ".svg":
            svgs = self.svgs()
            if svgs is None:
                raise RuntimeError(text("compare_no_picture", self.lang))
            for svg, letter in zip(svgs, "ab", strict=True):
                path.with_stem(f"{path.stem}-{letter}").write_text(resolved(svg), encoding="utf-8")
        else:
            raise ValueError(f"cannot write {path.suffix!r}: use one of {', '.join((*ENDINGS, '.svg'))}")
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}

    def __repr__(self) -> str:
        return self.text()


def dtypes(run: Run) -> Iterator[str]:
    """The dtypes of the floating numbers of a run."""
    for deed in run.deeds:
        for state in deed.outputs:
            if state.value is not None and state.value.dtype.startswith(("float", "bfloat", "complex")):
                yield state.value.dtype


def last_of(trace: Trace) -> dict[str, tuple[Value | None, Value | None]]:
    """Value and gradient of the named tensors in the end."""
    rows = [event.rows for event in trace.events if isinstance(event, Snapshot)]
    return {name: (state.value, state.grad) for name, state in rows[-1]} if rows else {}


def said(value: Value | None) -> str:
    """A value in the table."""
    return "None" if value is None else short(value)
