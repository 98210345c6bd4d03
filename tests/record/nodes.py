"""The nodes of each declared op and of each graph of `op_table`.

A line of `nodes.txt` is `name in PyTorch 2<TAB>name in 1.4<TAB>differentiable inputs<TAB>saved names`. A line
of `graphs.txt.xz` is `case dtype<TAB>node(saved names) …` in visiting order.
"""

from __future__ import annotations

from typing import Any

from .store import read, write

OPS, GRAPHS = "nodes.txt", "graphs.txt.xz"
DTYPES = ("float64", "complex128")


def saved_names(node: Any) -> str:
    """The saved names of a node, or of the class of one."""
    return " ".join(sorted(n.removeprefix("_saved_") for n in dir(node) if n.startswith("_saved_")))


def declared() -> dict[str, str]:
    """Per op, by its name in PyTorch 2, the rest of its line: all that is read here of a declaration."""
    from twins import dialect

    from minigrad.core import all_ops
    from minigrad.core.dialect import node_name

    with dialect("1.4"):
        return {
            name: f"{node_name(name)}\t{' '.join(op.inputs)}\t{saved_names(op.node)}"
            for name, op in sorted(all_ops().items())
        }


def graph_of(case: Any, dtype: str) -> str:
    """The nodes of the graph of a line of the table."""
    from op_case import results_of
    from twins import dialect, nodes

    import minigrad

    with dialect("2"):
        inputs = [minigrad.tensor(a, requires_grad=True) for a in case.arrays(dtype)]
        visited = nodes(*results_of(case.function(minigrad, *inputs)))
        return " ".join(f"{node.name()}({saved_names(node)})".replace(" ", ",") for node in visited)


def tried() -> dict[str, tuple[Any, str]]:
    """The lines of the table and the dtypes that they take, by title."""
    from op_table import CASES

    found = {}
    for case in CASES:
        for dtype in DTYPES:
            if case.numbers in ("both", "complex" if dtype == "complex128" else "real"):
                found[f"{case.name} {dtype}"] = case, dtype
    return found


def make() -> None:
    write(OPS, [f"{name}\t{rest}" for name, rest in declared().items()])
    write(GRAPHS, sorted(f"{title}\t{graph_of(*given)}" for title, given in tried().items()))


def recorded(name: str) -> dict[str, str]:
    """Title → the rest of its line."""
    return dict(line.split("\t", 1) for line in read(name))
