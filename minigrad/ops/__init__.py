"""Every op, one declaration each, in modules that are loaded when something in them is first used.

`index` says which module declares which ops, so that `F.name` loads one module; a new module, or op, is
entered there. Importing all of them would take longer than all the rest of minigrad. `load_all` is for those
who look through all ops: it fills the registries and checks the names that vjps use, which a test does.
"""

from __future__ import annotations

import builtins

from ..later import late_modules, load
from ..op import F, connect_modules
from .index import INDEX

_ATTRIBUTES = {"mT", "ndim", "shape", "dtype", "F"}
_HOMES = {name: module for module, names in INDEX.items() for name in names.split()}
_all_loaded = False


def load_op(name: str) -> None:
    """Load the module that declares the op `name`; all of them if the index does not know it."""
    if name in _HOMES:
        load(globals()[_HOMES[name]])
    else:
        load_all()


def load_all() -> None:
    """Load all ops. A vjp may use operators, `.mT`, `.shape` and ops of `F`: a misspelt name fails here."""
    global _all_loaded
    if not _all_loaded:
        for module in INDEX:
            load(globals()[module])
        _all_loaded = True
        check_names()


def check_names() -> None:
    """NameError unless the names in all vjps are known."""
    for op in [entry.op for entry in vars(F).values() if hasattr(entry, "op")]:
        for vjp in op.vjps.values():
            for name in getattr(vjp, "together", vjp).__code__.co_names:
                if (
                    name not in _ATTRIBUTES
                    and not hasattr(F, name)
                    and name not in getattr(vjp, "together", vjp).__globals__
                    and not hasattr(builtins, name)
                ):
                    raise NameError(f"the vjp of {op.name} uses {name!r}, which is not an op")


late_modules(__name__, " ".join(INDEX))
connect_modules(load_op, load_all)
