"""How wrong calls of each public function, method and class end.

Every one is called in the same ways, most of which are wrong for most of them: class and first line of the
error, or dtype and shape of what is returned. A line is `namespace<TAB>name<TAB>call<TAB>end`.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import own_texts

from .names import find
from .signatures import recorded as signatures
from .store import read, write

NAME = "errors.txt.xz"
SPACES = ("torch", "Tensor", "nn", "nn.functional", "nn.init", "optim", "linalg", "fft", "special", "func")
# They change a mode, read or write a file, block, or give what is not the same in each run.
NOT_CALLED = re.compile(
    r"set_|save|load|seed|manual_seed|initial_seed|.*_mode|no_grad|enable_grad|get_rng|from_file|Generator"
    r"|use_det|are_det|is_.*_enabled|compile|.*dlpack|share_|pin_|data_ptr|storage|untyped_|__|Storage|device$"
    r"|register_|swap_|vmap|hash|printoptions|get_num|get_default|get_dialect|requires_grad_|backward"
    r"|get_file|memory_"
)

PYTHONS = re.compile(  # texts of Python's own about a call, which name the function that is called inside
    r".*\(\) (takes|missing|got an unexpected|got multiple)|.*needs an argument"
    r"|.*object is not|.*has no attribute"
)
X, OTHER, BOOL, INT, COMPLEX = (f"tensor {i}" for i in range(5))  # places in `tensors`
CALLS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "()": ([], {}),
    "(text)": (["a"], {}),
    "(None)": ([None], {}),
    "(list)": ([[1.0, 2.0]], {}),
    "(x)": ([X], {}),
    "(bool)": ([BOOL], {}),
    "(int)": ([INT], {}),
    "(complex)": ([COMPLEX], {}),
    "(x, text)": ([X, "a"], {}),
    "(x, 1.5)": ([X, 1.5], {}),
    "(x, 7)": ([X, 7], {}),
    "(x, other)": ([X, OTHER], {}),
    "(x, dim=7)": ([X], {"dim": 7}),
    "(x, nonsense=1)": ([X], {"nonsense": 1}),
    "(x × 12)": ([X] * 12, {}),
}
OF_METHODS = [call for call in CALLS if call != "(x)" and not call.endswith("text)")]  # () is (x), and so on


def tensors(library: Any) -> dict[str, Any]:
    """What the calls take: floating 2×3, floating 4, bool, int and complex 2×3."""
    data = np.array(((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))
    given = (data, np.arange(4.0), data > 2, data.astype("int64"), data + 1j)
    return {f"tensor {i}": library.tensor(a) for i, a in enumerate(given)}


def called(library: Any, space: str, name: str) -> Any:
    """A function or class."""
    return find(library, f"{space}.{name}" if space != "torch" else name)


def run(library: Any, space: str, name: str, call: str) -> Any:
    """One call; a method is called on the first tensor among the arguments, or on x."""
    made = tensors(library)
    args, kwargs = CALLS[call]
    given = [made[a] if isinstance(a, str) and a in made else a for a in args]
    if space != "Tensor":
        return called(library, space, name)(*given, **kwargs)
    starts = bool(args) and isinstance(args[0], str) and args[0] in made
    receiver, rest = (given[0], given[1:]) if starts else (made[X], given)
    return getattr(receiver, name)(*rest, **kwargs)


def end(library: Any, space: str, name: str, call: str) -> str:
    """How one call ends."""
    from opinfo_checks import words
    from twins import dialect

    library.manual_seed(0)
    with warnings.catch_warnings(), np.errstate(all="ignore"), dialect("2"):
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                return described(run(library, space, name, call))
            except Exception as error:
                return f"{type(error).__name__}: {without_addresses(words(error))}"


def without_addresses(text: str) -> str:
    return re.sub(r" at 0x\w+", "", text).replace("\t", " ")


def described(result: Any) -> str:
    """Dtypes and shapes of what is returned; of anything else the type."""
    if isinstance(result, (tuple, list)):
        return f"({', '.join(map(described, result))})"
    if hasattr(result, "requires_grad") and hasattr(result, "dtype"):
        return f"{str(result.dtype).rpartition('.')[2]}{list(result.shape)}"
    return type(result).__name__


def functions(space: str) -> Iterator[str]:
    """The names of a namespace that are called."""
    import minigrad

    for name, text in signatures().get(space, {}).items():
        if text.startswith("=") or "." in name or NOT_CALLED.match(name):
            continue
        try:
            thing = called(minigrad, space, name)
        except AttributeError:
            continue  # `test_recorded` asks the signatures whether it may be gone
        if callable(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception)):
            yield name


def family(name: str) -> str:
    """The tests' names for parts of a namespace: the first letter."""
    return name[0].lower()


def calls_of(space: str) -> Iterable[str]:
    return OF_METHODS if space == "Tensor" else CALLS


def without_python(how: str) -> str:
    """An end without a text that is Python's own."""
    kind, _, text = how.partition(": ")
    return f"{kind}: …" if kind.endswith("Error") and PYTHONS.match(text) else how


# Python names the class that defines a method, which may be a base.
COUNTS = re.compile(  # in Python's words for a function, and for a signature
    r"TypeError: \S* (takes (from \d+ to )?\d+ positional arguments? but \d+ were given"
    r"|too many positional arguments|multiple values for argument|missing a required argument)"
)
METHOD = re.compile(r"(?<=^TypeError: )[A-Za-z]\w*\.(?=\w+\(\) )")


def is_same(before: str, now: str) -> bool:
    """Whether a call ends as it did; where Python itself refused it, any TypeError will do."""
    if before.endswith(": …"):
        return now.startswith(("TypeError: ", before[:-1]))
    kind, _, text = now.partition(": ")
    if before.startswith(f"{kind}: ") and own_texts.OWN.match(text):
        return True
    if COUNTS.match(now):
        return re.match(r"\w*Error: ", before) is not None
    return METHOD.sub("", before) == METHOD.sub("", now)


def lines() -> Iterator[str]:
    """Texts of Python's own are kept where PyTorch has the same."""
    import torch

    import minigrad

    for space in SPACES:
        for name in functions(space):
            for call in calls_of(space):
                how = end(minigrad, space, name, call)
                short = without_python(how)
                if short != how and ended(torch, space, name, call) == how:
                    short = how
                yield f"{space}\t{name}\t{call}\t{short}"


def ended(library: Any, space: str, name: str, call: str) -> str:
    """How a call ends in a library; an empty text if it does not have the name."""
    try:
        called(library, space, name)
    except AttributeError:
        return ""
    return end(library, space, name, call)


def make() -> None:
    write(NAME, lines())


def recorded() -> dict[tuple[str, str], dict[tuple[str, str], str]]:
    """(namespace, family) → (name, call) → end."""
    found: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
    for line in read(NAME):
        space, name, call, how = line.split("\t")
        found.setdefault((space, family(name)), {})[name, call] = how
    return found
