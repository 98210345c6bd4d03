"""A `graphviz.Digraph` that shows and renders itself where there is no `dot` program, and `make_dot` with
torchviz's signature.

The `graphviz` package writes DOT and calls `dot` for everything else. `Digraph` asks `layout.render` instead:
SVG and the text formats come from the bundled Graphviz; PNG, PDF and HTML-like labels need a native `dot`,
and say so.

Arrows run in the direction of the forward pass; leaves are blue, backward functions grey, the output
green, saved tensors (on request) orange.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import graphviz

from ..model.naming import name_cards
from ..number_text import one_line
from ..protocol import Value, edges_of, is_tensor, node_name, variable_of
from ..saved_values import SavedValue, saved_of
from ..trace.graph import LEAF, PARAMETER, ROOT, Graph, SavedChip, Station
from ..trace.graph_walk import nodes_of
from ..words import clean, shorten
from . import graphviz_wasm, layout
from .look import Look

# ─── A `graphviz.Digraph` that shows and renders itself where there is no `dot` program


SVG, TEXT = "image/svg+xml", "text/plain"


class Digraph(graphviz.Digraph):
    """A `graphviz.Digraph` that a notebook can display even without the program `dot`. Write
    `from minigrad_viz import Digraph` instead of `from graphviz import Digraph`, and use it in the same way.

    `pipe` and `render` use the bundled Graphviz for what it can do and a native `dot` for the rest; where
    neither can, they raise a `layout.LayoutError` that says what is missing. The display in a notebook then
    falls back to text, which is `outline` or, without one, the DOT source.

    Labels that may hold any text go through `literal_label`: Graphviz gives `\\N`, `<b>` and `&lt;` a
    meaning.
    """

    outline: str | None = None
    deadline: float = 2.0  # seconds that a display in a notebook may take
    patience: float = 60.0  # seconds that `pipe` and `render` may take: somebody waits, and can interrupt

    def copy(self) -> Digraph:
        """An independent copy, with its outline and time limits."""
        twin = super().copy()
        twin.outline, twin.deadline, twin.patience = self.outline, self.deadline, self.patience
        return twin

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None, **_: Any
    ) -> dict[str, str | bytes]:
        """What a notebook shows: SVG and text, or text alone where the layout fails."""
        hidden = set(exclude or ())
        wanted = set((SVG, TEXT) if include is None else include) - hidden
        bundle: dict[str, str | bytes] = {}
        for mime, format in ((SVG, "svg"), ("image/png", "png"), ("image/jpeg", "jpeg")):
            if mime in wanted:
                try:
                    image = layout.render(self.source, format, program=self.engine, deadline=self.deadline)
                    bundle[mime] = image.decode() if mime == SVG else image
                except graphviz_wasm.LayoutError:
                    wanted |= {TEXT} - hidden
        if TEXT in wanted:
            bundle[TEXT] = self.source if self.outline is None else self.outline
        return bundle

    def pipe(
        self,
        format: str | None = None,
        *,
        engine: str | None = None,
        encoding: str | None = None,
        quiet: bool = False,
        **native: Any,
    ) -> bytes | str:
        """The drawing as bytes or, given an encoding, as a string. `format` is `self.format` if not given.

        Arguments are those of `graphviz.Digraph.pipe`, of which `renderer`, `formatter` and `neato_no_op`
        need a native `dot`.
        """
        format = _known_format(format or self.format)
        if _needs_dot(format, native):
            return super().pipe(format, engine=engine, encoding=encoding, quiet=quiet, **native)
        output = layout.render(self.source, format, program=engine or self.engine, deadline=self.patience)
        return output if encoding is None else output.decode(encoding)

    def render(
        self,
        filename: str | os.PathLike[str] | None = None,
        directory: str | os.PathLike[str] | None = None,
        view: bool = False,
        cleanup: bool = False,
        format: str | None = None,
        *,
        outfile: str | os.PathLike[str] | None = None,
        engine: str | None = None,
        quiet: bool = False,
        quiet_view: bool = False,
        raise_if_result_exists: bool = False,
        overwrite_source: bool = False,
        **native: Any,
    ) -> str:
        """Saves the DOT source and the drawing beside it, and returns the path of the drawing.

        Arguments are those of `graphviz.Digraph.render`. The format is `format`, or that of `outfile`'s
        suffix, or `self.format`, which is "pdf" (and needs a native `dot`) unless it was set.
        """
        suffix = "" if outfile is None else Path(outfile).suffix[1:].lower()
        format = _known_format(format or suffix or self.format)
        if _needs_dot(format, native):
            native |= {"outfile": outfile, "engine": engine, "quiet": quiet, "quiet_view": quiet_view}
            native |= {"raise_if_result_exists": raise_if_result_exists, "overwrite_source": overwrite_source}
            return super().render(
                filename, directory=directory, view=view, cleanup=cleanup, format=format, **native
            )
        if raise_if_result_exists and overwrite_source:
            raise ValueError("overwrite_source cannot be combined with raise_if_result_exists")
        # The drawing first: a layout that fails leaves no file behind.
        image = layout.render(self.source, format, program=engine or self.engine, deadline=self.patience)
        if outfile is not None and filename is None:
            filename = Path(outfile).with_suffix(".gv")
        place = self.directory if directory is None else ""
        source = Path(self.save(filename, directory=directory))
        target = source.with_name(f"{source.name}.{format}") if outfile is None else Path(place, outfile)
        if target.resolve() == source.resolve() and not overwrite_source:
            raise ValueError(f"outfile {target.name!r} is the DOT source (overwrite_source=True allows that)")
        if raise_if_result_exists and target.exists():
            raise graphviz.FileExistsError(f"output file exists: {os.fspath(target)!r}")
        target.write_bytes(image)
        if cleanup and target.resolve() != source.resolve():
            source.unlink()
        if view or quiet_view:
            graphviz.view(target, quiet=quiet_view)
        return os.fspath(target)


def _known_format(format: str) -> str:
    if format.lower() not in graphviz.FORMATS:
        raise ValueError(f"unknown format: {format!r} (must be one of {sorted(graphviz.FORMATS)})")
    return format.lower()


def _needs_dot(format: str, native: dict[str, Any]) -> bool:
    """Whether only a native `dot` can do it; raises `LayoutUnavailable` if it is not there."""
    options = [name for name, value in native.items() if value is not None]
    if format in layout.BUNDLED_FORMATS and not options:
        return False
    if shutil.which("dot") is None:
        what = f"the option {options[0]!r}" if options else f"the format {format!r}"
        raise graphviz_wasm.LayoutUnavailable(
            f"{what} needs the Graphviz program `dot`, which is not on PATH; format='svg' does without"
        )
    return True


# Graphviz reads `\N` and `\l` as escapes and `&lt;` as an entity; the `graphviz` package takes `<…>` for
# HTML. XML, and with it SVG, has no control characters but tab and newline, and no unpaired surrogates.
_LITERAL = {code: chr(0x2400 + code) for code in range(32)} | {0x7F: "␡"}
_LITERAL |= {ord("\\"): "\\\\", ord("&"): "&amp;", ord("<"): "&lt;", ord("\n"): "\\n", ord("\t"): "    "}
_NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")


def literal_label(text: str) -> str:
    """`text` as the value of a `label` or `xlabel` that prints it literally, whatever it holds.

    Line breaks stay line breaks, a tab becomes four spaces, and what cannot be drawn (control characters,
    halves of surrogate pairs) is replaced by a visible sign. Results may be joined. Not for names of nodes,
    not for tooltips (Graphviz unescapes them twice), and not for record labels, in which `{`, `}` and `|`
    divide fields.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _NO_CHARACTER.sub("\ufffd", lines).translate(_LITERAL)


# ─── `make_dot` with torchviz's signature, for notebooks that use it


BLUE, GREY, GREEN, ORANGE = "lightblue", "lightgrey", "darkolivegreen1", "orange"
COLOURS = {LEAF: BLUE, PARAMETER: BLUE, ROOT: GREEN}
NODES = 5000
LONGEST = 200  # columns of a name
STYLE = {
    "style": "filled",
    "shape": "box",
    "align": "left",
    "fontsize": "10",
    "ranksep": "0.1",
    "height": "0.2",
    "fontname": "monospace",
}


def make_dot(
    var: Any,
    params: Mapping[str, Any] | None = None,
    show_attrs: bool = False,
    show_saved: bool = False,
    max_attr_chars: int = 50,
) -> Digraph:
    """Return the graph of the tensor `var` (or of a tuple of tensors) as a `graphviz.Digraph`, which displays
    even without `dot`.

    `params` names tensors; `show_attrs` adds what a node saved, at most `max_attr_chars` characters each;
    `show_saved` adds saved tensors as boxes. TypeError if something is not a tensor, ValueError without
    any tensor or for more than 5,000 nodes.
    """
    roots = list(var) if isinstance(var, tuple | list) else [var]
    order, omitted = nodes_of(roots, NODES, "make_dot() draws the graph of tensors")
    if omitted:
        raise ValueError(f"the graph has {len(order) + omitted} nodes; make_dot draws up to {NODES}")
    return TorchvizWriter(order, params or {}).write(roots, show_attrs, show_saved, max_attr_chars)


class TorchvizWriter:
    """Writes nodes, given inputs first, into a Digraph."""

    def __init__(self, order: list[Any], params: Mapping[str, Any]) -> None:
        self.dot = Digraph(node_attr=STYLE, graph_attr={"size": "12,12"})
        self.ids = {node: f"n{i}" for i, node in enumerate(order)}
        self.names = {id(tensor): name for name, tensor in params.items()}

    def write(self, roots: list[Any], attributes: bool, saved: bool, width: int) -> Digraph:
        """All nodes with what belongs to them, then the roots."""
        for node, id in self.ids.items():
            kept = list(saved_of(node)) if attributes or saved else []
            self.node(node, id, kept if attributes else [], width)
            for i, k in enumerate(k for k in kept if saved and is_tensor(k.value)):
                self.dot.node(
                    f"{id}s{i}", literal_label(f"{k.name}\n {tuple(k.value.shape)}"), fillcolor=ORANGE
                )
                self.dot.edge(f"{id}s{i}", id, arrowhead="none")
        for i, root in enumerate(roots):
            leaf = root.grad_fn is None and root.requires_grad
            self.dot.node(f"o{i}", literal_label(self.title(root)), fillcolor=BLUE if leaf else GREEN)
            if root.grad_fn is not None:
                self.dot.edge(self.ids[root.grad_fn], f"o{i}")
        return self.dot

    def node(self, node: Any, id: str, kept: list[SavedValue], width: int) -> None:
        """One backward function, the leaf it deposits to, and the arrows into it."""
        label = shorten(node_name(node), LONGEST)
        if kept:
            lines = [f"{k.name}: {saved_text(k)[:width]}" for k in kept]
            label = "\n".join([label, "-" * max(map(len, [label, *lines])), *lines])
        self.dot.node(id, literal_label(label), fillcolor=GREY)
        leaf = variable_of(node)
        if leaf is not None:
            self.dot.node(f"{id}v", literal_label(self.title(leaf)), fillcolor=BLUE)
            self.dot.edge(f"{id}v", id)
        for target, _ in edges_of(node):
            if target is not None:
                self.dot.edge(self.ids[target], id)

    def title(self, tensor: Any) -> str:
        """A tensor's name, if it has one, and its shape."""
        name, shape = self.names.get(id(tensor)), str(tuple(tensor.shape))
        return shape if name is None else f"{shorten(name, LONGEST)}\n {shape}"


def saved_text(kept: SavedValue) -> str:
    """A saved value in a few words."""
    if kept.freed:
        return "[freed]"
    return f"[saved tensor] {tuple(kept.value.shape)}" if is_tensor(kept.value) else str(kept.value)


# ---------------------------------------------------------------------- a recorded graph in this manner


def dot_of(graph: Graph, look: Look, direction: str = "TB") -> Digraph:
    """The backward graph of `graph` in torchviz's manner. Tensors that no node refers to are left out.
    `look` says whether values are written beside shapes and which saved values have a box."""
    dot = Digraph(node_attr=STYLE, graph_attr={"rankdir": direction})
    names = name_cards(graph, look.lang)
    shown = [station for station in graph.stations if station.deck is not None or not graph.tracked]
    for station in shown:
        _station(dot, station, names, look)
    decks = {station.id for station in shown if station.deck is not None}
    for route in graph.routes:
        if route.tracked and route.source in decks and route.target in decks:
            dot.edge(f"{route.source}d", f"{route.target}d")
    return dot


def _station(dot: Digraph, station: Station, names: Mapping[tuple[str, int], str], look: Look) -> None:
    """A backward function, what it saved, and the tensor if it is a leaf or a root."""
    deck = f"{station.id}d"
    if station.deck is not None:
        dot.node(deck, literal_label(clean(station.deck.name)), fillcolor=GREY)
        for i, saved in enumerate(station.deck.saved if look.saved == "all" else ()):
            dot.node(f"{deck}{i}", literal_label(_saved_line(saved, look)), fillcolor=ORANGE)
            dot.edge(f"{deck}{i}", deck, arrowhead="none")
    for i, card in enumerate(station.cards):
        if card.role not in COLOURS and station.deck is not None:
            continue
        lines = [names[station.id, i]]
        if card.value is not None:
            lines.append(f" {card.value.shape}")
            lines += [one_line(card.value)] if look.values else []
        id = f"{station.id}c{i}"
        dot.node(id, literal_label("\n".join(map(clean, lines))), fillcolor=COLOURS.get(card.role, "white"))
        if station.deck is not None:
            dot.edge(*((deck, id) if card.role == ROOT else (id, deck)))


def _saved_line(saved: SavedChip, look: Look) -> str:
    """A saved value as its box says it."""
    if not isinstance(saved.value, Value):
        value = "[freed]" if saved.value is None else saved.value
        return clean(f"{saved.name} {value}" if look.values else saved.name)
    lines = [clean(saved.name), f" {saved.value.shape}", *([one_line(saved.value)] if look.values else [])]
    return "\n".join(lines)
