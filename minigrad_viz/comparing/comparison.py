"""Two runs side by side: where they first differ, and the consequence; runs that are kept to be
compared."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import isclose
from pathlib import Path
from typing import Any

from ..drawing.export import inline_image, resolve_colors, whole_page
from ..drawing.graphviz_wasm import LayoutError
from ..drawing.sheets import Cell, Sheet
from ..number_text import number, one_line
from ..protocol import Value
from ..trace.events import Snapshot, Trace
from ..trace.graph import Graph
from ..trace.json_format import plain_data
from ..words import language, text
from .differences import (
    PASSED,
    VALUE,
    Action,
    Alignment,
    Difference,
    Run,
    align_runs,
    call_in_short,
    given_first,
    moments,
    same_numbers,
    source_of,
)
from .side_by_side import ON_A_PAGE, draw_pair, near_to, union_graph

# ─── Two runs side by side: where they first differ, and what became of it


BEFORE, AFTER = 3, 2  # actions around the difference that a terminal shows
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
            self.a.actions, self.b.actions = map(given_first, (self.a.actions, self.b.actions))
        self.aligned: Alignment = align_runs(self.a.actions, self.b.actions)
        self.difference = self.aligned.difference

    # ── what is said ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def sentence(self) -> str:
        """Where the runs first differ, and what each of them did there."""
        found = self.difference
        if found is None:
            return text("compare_same", self.lang, n=self.aligned.alike)
        if found.extra:
            return self.culprit(found)
        a, b = self.a.told(found.a, found), self.b.told(found.b, found)
        return text("compare_first", self.lang, a=a, b=b)

    def culprit(self, found: Difference) -> str:
        """What only one run does, and its consequence."""
        run, action = (self.a, found.a) if found.extra == "A" else (self.b, found.b)
        assert action is not None
        line = "" if action.span is None or action.span.origin else action.span.line
        said = {"run": run.label, "source": call_in_short(action), "line": line}
        return text("compare_extra", self.lang, **said, so=self.consequence(run, action))

    def consequence(self, run: Run, extra: Action) -> str:
        """The consequence of what a run does more: the first gradient that differs; where it cuts a tensor
        off, that no gradient goes through that."""
        rows = list(self.ends())
        name, a, b = next((row for row in rows if row[0].endswith(".grad")), (rows or [("", "", "")])[0])
        mine, other = (a, b) if run is self.a else (b, a)
        if not name:
            return ""
        said = {"name": name, "mine": mine, "other": other}
        cut, leaf = run.cuts(extra), name.removesuffix(".grad")
        if cut is not None and leaf != name:
            through = f"`{source_of(extra)}`" if run.name(cut) == leaf else run.name(cut)
            return text("compare_so_cut", self.lang, leaf=leaf, through=through, **said)
        return text("compare_so", self.lang, **said)

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
        named = name and name != run.label
        return text("compare_run", self.lang, run=run.label, name=name) if named else run.label

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
                if not same_numbers(mine, other):
                    yield what, value_cell(mine), value_cell(other)

    def around(self, run: Run) -> list[str]:
        """The actions of a run around the difference, one a line."""
        at, actions = self.aligned.alike, run.actions
        lines = [f"  {run.line(action)}" for action in actions[max(0, at - BEFORE) : at]]
        if self.leaves_out(run):
            lines.append(f"▶ {text('compare_absent', self.lang)}")
            return lines + [f"  {run.line(action)}" for action in actions[at : at + AFTER]]
        lines.append(f"▶ {run.told(actions[at] if at < len(actions) else None, self.difference)}")
        return lines + [f"  {run.line(action)}" for action in actions[at + 1 : at + 1 + AFTER]]

    def leaves_out(self, run: Run) -> bool:
        """Whether the difference is something that this run does not do."""
        return self.difference is not None and self.difference.extra not in ("", run.label)

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
        actions = (None, None) if found is None else (found.a, found.b)
        graphs = []
        for run, action in zip((self.a, self.b), actions, strict=True):
            scene, graph = run.scene(action), run.graph(action)
            at = [scene.at[id][0].id for id in (action.tensors if action else ()) if id in scene.at]
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
        actions = (None, None) if found is None else (found.a, found.b)
        graphs = [near for _, near in self.graphs]
        if not all(graph.stations for graph in graphs):
            return None
        pair = union_graph(graphs[0], graphs[1], self.aligned.pairs)
        shown = (None if self.leaves_out(run) else act for run, act in zip((self.a, self.b), actions))
        lit = [self.lit(action, graph) for action, graph in zip(shown, (pair.a, pair.b), strict=True)]
        try:
            return draw_pair(pair, lit, lang=self.lang, theme=self.theme)
        except LayoutError:
            return None

    def lit(self, action: Action | None, graph: Graph) -> set[str] | None:
        """The parts of a picture that show the difference; None if the runs are the same."""
        if self.difference is None:
            return None
        about = set() if action is None else set(action.tensors)
        found = {station.id for station, card in graph.cards() if card.id in about}
        now = () if action is None else moments(action)
        found |= {update.id for update in graph.updates if not set(update.times).isdisjoint(now)}
        if action is None or action.kind != PASSED:
            inward = [r for r in graph.routes if r.target in found]
            return found | {route.id for route in inward}
        index = self.difference.at - action.received if self.difference.what == VALUE else -1
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
                f"{inline_image(svg, chr(10).join(self.around(run)), ON_A_PAGE)}</figure>"
                for run, svg in zip((self.a, self.b), svgs, strict=True)
            ) + "</div>"  # fmt: skip
        return STYLE + said + shown + (self.sheet.html() if self.sheet else "")

    def to_json(self) -> str:
        """The comparison as JSON: the sentence, the actions that differ, and what was not the same in the
        end."""
        found = self.difference
        actions = (None, None) if found is None else (found.a, found.b)
        data = {
            "runs": [self.title(self.a), self.title(self.b)],
            "same": self.aligned.alike,
            "sentence": self.sentence,
            "notes": self.notes,
            "difference": None if found is None else found.what,
            **{
                key: None if action is None else plain_data(action)
                for key, action in zip("ab", actions, strict=True)
            },
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
                path.with_stem(f"{path.stem}-{letter}").write_text(resolve_colors(svg), encoding="utf-8")
        else:
            raise ValueError(f"cannot write {path.suffix!r}: use one of {', '.join((*ENDINGS, '.svg'))}")
        return path

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}

    def __repr__(self) -> str:
        return self.text()


def dtypes(run: Run) -> Iterator[str]:
    """The dtypes of the floating numbers of a run."""
    for action in run.actions:
        for state in action.outputs:
            if state.value is not None and state.value.dtype.startswith(("float", "bfloat", "complex")):
                yield state.value.dtype


def last_of(trace: Trace) -> dict[str, tuple[Value | None, Value | None]]:
    """Value and gradient of the named tensors in the end."""
    rows = [event.rows for event in trace.of(Snapshot)]
    return {name: (state.value, state.grad) for name, state in rows[-1]} if rows else {}


def value_cell(value: Value | None) -> str:
    """A value in the table."""
    return "None" if value is None else one_line(value)


# ─── Runs that are kept under a name, to be compared with later ones


MOST = 20  # runs; the one that was kept first goes first
_runs: dict[str, Trace] = {}


def keep(name: str, trace: Trace) -> None:
    """Keep a run under a name, instead of an earlier one with this name."""
    _runs.pop(name, None)
    _runs[name] = trace
    while len(_runs) > MOST:
        del _runs[next(iter(_runs))]


def run_called(name: str) -> Trace | None:
    """The run of that name, if there is one."""
    return _runs.get(name)


def comparison_with(name: str, trace: Trace, lang: str | None = None) -> Comparison | None:
    """What `%%autograd --vs NAME` shows of a cell: the comparison with the run of that name, or with the
    trace that was saved in a file of that name. None where there is none yet, or where the same cell has run
    again on the same library: then it is kept under the name."""
    known = run_called(name)
    if known is None and (file := Path(name)).suffix.lower() == ".json" and file.exists():
        return Comparison(Trace.load(file), trace, (file.name, text("compare_this_cell", lang)), lang=lang)
    if known is None or (known.source, known.library) == (trace.source, trace.library):
        keep(name, trace)
        return None
    return Comparison(known, trace, (name, text("compare_this_cell", lang)), lang=lang)


def compare(a: Any, b: Any, *, lang: str | None = None, theme: str = "auto") -> Comparison:
    """Draw two runs side by side, with the first difference marked.

    `a` and `b` are each a name that `%%autograd --vs NAME` has kept, the name of a trace that was saved as
    .json, a `Trace`, or anything that has one: what `last()` returns, or the object of `with record() as r`.
    KeyError for an unknown name, OSError for a file that cannot be read, `InvalidTrace` for one that is not a
    trace, TypeError for anything else.

    >>> import minigrad as torch
    >>> runs = []
    >>> for start in (3.0, 4.0):
    ...     with record(lang="en") as run:
    ...         x = torch.tensor(start, requires_grad=True)
    ...     runs.append(run)
    >>> print(compare(*runs, lang="en").sentence.partition(":")[0])
    The first difference
    """
    (first, mine), (second, other) = (trace_of_run(each, lang) for each in (a, b))
    return Comparison(first, second, (mine, other), lang=lang, theme=theme)


def trace_of_run(run: Any, lang: str | None) -> tuple[Trace, str]:
    """The trace of a run, and its name if it has one."""
    if isinstance(run, str):
        trace = run_called(run)
        if trace is None:
            if Path(run).suffix.lower() == ".json":
                return trace_of_run(Path(run), lang)
            names = ", ".join(_runs) or "–"
            raise KeyError(text("compare_unknown", lang, name=run, names=names))
        return trace, run
    if isinstance(run, Path):
        return Trace.load(run), run.name
    trace = run if isinstance(run, Trace) else getattr(run, "trace", None)
    if not isinstance(trace, Trace):
        raise TypeError(text("compare_no_run", lang, kind=type(run).__name__))
    return trace, ""
