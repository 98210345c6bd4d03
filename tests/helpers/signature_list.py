"""Writes `minigrad/tables/signatures.txt`: what PyTorch's parsers of arguments expect, for the names minigrad
has.

PyTorch keeps the signatures as texts in its library, functions and methods under one name. A form without
`input` belongs to the method if there is the same form with it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import minigrad

TARGET = Path(minigrad.__file__).parent / "tables" / "signatures.txt"
FORM = re.compile(rb"(?<=\x00)([a-z_A-Z]\w*\([ -~]{0,500}?\)(?:\|deprecated)?)(?=\x00)")
INDICES = "c10::List<::std::optional<Tensor>>"
# What functions of `nn.functional` written in Python hand their arguments to.
HANDED = "cross_entropy_loss elu huber_loss leaky_relu log_sigmoid nll_loss_nd pad smooth_l1_loss"
TYPES = {
    "SymIntArrayRef": "int[]",
    "IntArrayRef": "int[]",
    "int64_t": "int",
    "SymInt": "int",
    "c10::string_view": "str",
    "ScalarType": "dtype",
    "ITensorListRef": "Tensor[]",
    "TensorList": "Tensor[]",
    "ArrayRef<Scalar>": "Scalar[]",
    "ScalarList": "Scalar[]",
    "ArrayRef<double>": "float[]",
    "double": "float",
}


def forms() -> dict[str, list[str]]:
    """All signatures by name, without their names."""
    import torch

    library = (Path(torch.__file__).parent / "lib" / "libtorch_python.so").read_bytes()
    found: dict[str, list[str]] = defaultdict(list)
    for match in FORM.finditer(library):
        name, _, rest = match.group(1).decode().replace(INDICES, "TensorList").partition("(")
        form = rest[: rest.rindex(")")] + rest[rest.rindex(")") + 1 :]
        strange = any(word in form for word in ("Dimname", "PyObject", "Storage", "c10::List", "std::"))
        if not strange and not name.startswith("_") and form not in found[name]:
            found[name].append(form)
    return found


OUT = re.compile(r"(, )?\*, \w+(\[\d\])? out=None|, \w+(\[\d\])? out=None")


def is_of_method(form: str, others: list[str]) -> bool:
    """Whether one of the others is the same with `Tensor input` put in somewhere."""
    functions = [OUT.sub("", other.partition("|")[0]) for other in others if "Tensor input" in other]
    bare = [re.sub(r"Tensor input(, )?", "", f, count=1).rstrip(", ") for f in functions]
    return form.partition("|")[0] in bare


def short(form: str) -> str:
    """A signature with the names that types have in Python."""
    for long, name in TYPES.items():
        form = re.sub(rf"\b{re.escape(long)}(?![\w])", name, form)
    form, deprecated, _ = re.sub(r"\[\]\[(\d)\]", r"[\1]", form).partition("|deprecated")
    return f"{form}){deprecated}"


def text() -> str:
    """The lines of the file."""
    import torch

    lines = []
    for name, every in sorted(forms().items()):
        methods = [f for f in every if "Tensor input" not in f and is_of_method(f, every)]
        functions = [f for f in every if f not in methods]
        if is_parsed(torch.Tensor, minigrad.Tensor, name):
            only = [] if hasattr(torch, name) else functions
            lines += [f"Tensor.{name}({short(f)}" for f in (*methods, *only)]
        if is_function(torch, minigrad, name):
            lines += [f"{name}({short(f)}" for f in functions]
    return "\n".join(lines) + "\n"


def is_parsed(theirs: Any, ours: Any, name: str) -> bool:
    """Whether both have a function of that name and PyTorch's is written in C++: others have no parser."""
    function = getattr(theirs, name, None)
    return callable(function) and not hasattr(function, "__code__") and hasattr(ours, name)


def is_function(torch: Any, ours: Any, name: str) -> bool:
    """The same for functions, `linalg_inv` being `linalg.inv`."""
    part, _, rest = name.partition("_")
    if part in ("linalg", "special", "fft"):
        return is_parsed(getattr(torch, part), getattr(ours, part), rest)
    functional = ours.nn.functional
    return name in HANDED.split() or any(
        is_parsed(*pair, name)
        for pair in ((torch, ours), (torch, functional), (torch.nn.functional, functional))
    )


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
