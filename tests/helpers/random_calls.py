"""Random calls of public functions, methods and layers, often wrong ones, as text that runs in both
libraries.

What functions written in C++ take is in PyTorch's signatures (`tensor.signatures.forms`); those written in
Python take, in their own. An argument fits its parameter most of the time. A call ends with a result, or with
an error, and `differs` says what is not as in PyTorch: the results, the class of the error, or that the error
comes from NumPy or from Python inside a kernel.
"""

from __future__ import annotations

import dis
import inspect
import itertools
import operator
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from record.errors import NOT_CALLED
from twins import dialect, dtype_of, is_tensor, numbers

import minigrad
from minigrad.tensor.signatures import Parameter, forms, signatures

HOME = str(Path(minigrad.__file__).parent)


def pool(text: str) -> list[str]:
    """The arguments that a text lists."""
    return re.split(r"\s*;\s*", text.strip())


SHAPES = pool("3; 4; 2, 3; 3, 3; 3, 2; 2, 3, 4; 1, 3; 0; 0, 3; 3, 0; 2, 0, 3; ; 1; 1, 2, 4, 4")
DTYPES = pool(
    "float32; float32; float32; float32; float32; float32; float64; int64; int64; int32; bool; complex64;"
    "uint8; float16"
)
INTS = pool("0; 1; 2; -1; 3; -2; -4; 5; 7")
NUMBERS = pool("2; 1.5; 0; -1; True; 0.0; -0.5; 3; float('inf'); 1j")
LISTS = pool(
    "(); (0,); (1,); (0, 1); (-1,); (2, 3); (1, 0); [2, 2]; (3, 2); (0, 0); (2,); (5,); (-1, 2); (2, 1, 0);"
    "(1, 2, 3)"
)
STRINGS = pool(
    "'mean'; 'sum'; 'none'; 'trunc'; 'floor'; 'fro'; 'nuc'; 'tanh'; 'ij'; 'xy'; 'linear'; 'left'; 'reduced'"
)
HOSTILE = pool(
    "None; 'a'; []; (); 1.5; True; -7; t('2, 3', 'float32'); t('', 'float32'); {}; object; 2j; [1.0]; ('a',);"
    "(None,)"
)
KEYS = INTS + pool(
    ":; ::2; 1:; :0; ...; None; True; [0, 1]; t('3', 'int64'); t('3', 'bool'); t('0', 'int64'); ::-1; 1.5;"
    "'a'; t('2, 3', 'bool'); 5:1; t('', 'int64'); [True, False, True]; []"
)
POOLS: dict[str, list[str]] = {
    "int": INTS,
    "float": pool("0.5; 2.0; 1e-5; 0; -1.0; float('nan')"),
    "Scalar": NUMBERS,
    "bool": ["True", "False"],
    "str": STRINGS,
    "dtype": [f"L.{kind}" for kind in DTYPES],
    "Device": ["'cpu'"],
    "Layout": ["L.strided"],
    "MemoryFormat": ["L.contiguous_format", "L.preserve_format"],
    "Generator": ["None"],
    "float[]": ["[0.5]", "[1.0, 2.0]"],
    "Scalar[]": ["[1]"],
}
OPERATORS = pool(
    "add; sub; mul; truediv; floordiv; mod; pow; matmul; and_; or_; xor; lt; le; eq; ne; gt; ge; lshift;"
    "rshift"
)
# Parameters that are seldom given.
RARE = pool("out; size_average; reduce; layout; pin_memory; generator; requires_grad; device; memory_format")
# Results without fixed numbers, or that are not unique.
SHAPE_ONLY = re.compile(
    r"empty|rand|normal|dropout|bernoulli|multinomial|uniform|exponential|resize|new\b|Dropout|eig|svd|qr|lstsq"
    r"|Linear|Conv|RNN|LSTM|GRU|Embedding|Attention|Transformer|gumbel|sort|topk"
)
# What takes a file, a process, a mode or a callback, speaks of the library itself, or is a base class.
SKIPPED = re.compile(
    r"compile|cuda|_thread|hook|names|is_|printoptions|record_stream|__|stride|untyped|type$|dlpack|set_|manual"
    r"|overrides|element_size|sym_|data_ptr|backward|pin_memory|share_memory|Lazy|Sync|Parallel|Parameter|Module"
    r"|from_file|cpu$|Sequential|get_device|RNNCellBase|RNNBase|Tensor\.new$"
)


def tensor(library: Any, shape: str, kind: str, learns: bool = False) -> Any:
    """A tensor of numbers that depend on its shape alone."""
    sizes = tuple(int(n) for n in shape.split(",") if n.strip())
    count = int(np.prod(sizes))
    values = (np.arange(count) ** 2 * 3 + np.arange(count) * 7) % 17 % 10 - 3
    values = values * 0.25 if kind[:3] in ("flo", "com") else values
    if kind == "uint8":
        values = abs(values)
    made = library.tensor(values.reshape(sizes), dtype=getattr(library, kind))
    return made.requires_grad_() if learns else made


def names_of(library: Any) -> dict[str, Any]:
    """What the text of a call speaks of."""

    def t(shape: str, kind: str, learns: bool = False) -> Any:
        return tensor(library, shape, kind, learns)

    return {"L": library, "nn": library.nn, "F": library.nn.functional, "t": t, "operator": operator}


class Call(NamedTuple):
    """A call as text in parts: `head`, then groups of arguments in brackets."""

    head: str
    groups: list[list[str]]
    brackets: str = "()"

    def text(self) -> str:
        first, last = self.brackets
        return self.head + "".join(first + ", ".join(group) + last for group in self.groups)


class Calls:
    """An endless source of calls; the seed alone says which. Of a call that PyTorch accepts, one argument is
    made another one, which may be wrong: so an error has one cause.
    """

    def __init__(self, torch: Any, seed: int) -> None:
        self.torch, self.random = torch, Random(seed)
        self.signed = [n for n in signatures() if is_called(n)]
        self.functional = python_names(minigrad.nn.functional)
        self.layers = [n for n in python_names(minigrad.nn) if inspect.isclass(getattr(minigrad.nn, n))]

    def __iter__(self) -> Iterator[str]:
        kinds = (self.of_signature, self.of_function, self.of_layer, self.of_index, self.of_operator)
        while True:
            kind = self.random.choices(kinds, (10, 4, 5, 2, 1))[0]
            valid = self.valid(kind)
            if valid is not None:
                yield valid.text()
                for _ in range(3):
                    yield self.changed(valid).text()

    def valid(self, kind: Any) -> Call | None:
        """A call that PyTorch accepts; None if none was found."""
        state = self.random.getstate()
        for i in range(60):
            target = Random()
            target.setstate(state)  # the same function each time
            call = kind(target)
            if End(self.torch, call.text()).error is None:
                return call
            if i == 0:
                self.random.random()
        return None

    def changed(self, call: Call) -> Call:
        """A call with one argument changed, left out, or added."""
        groups = [list(group) for group in call.groups]
        filled = [group for group in groups if group]
        if not filled or self.often(0.06):
            groups[-1].append(self.pick(HOSTILE))
            return call._replace(groups=groups)
        group = self.pick(filled)
        at = self.random.randrange(len(group))
        before = group[at]
        name, equals, value = before.rpartition("=") if re.match(r"\w+=", before) else ("", "", before)
        if self.often(0.06):
            del group[at]
        else:
            group[at] = name + equals + self.other(value)
        return call._replace(groups=groups)

    def other(self, value: str) -> str:
        """Another argument instead of one."""
        if self.often(0.15):
            return str(self.pick(HOSTILE))
        pools = [pool for pool in (INTS, NUMBERS, LISTS, STRINGS, KEYS) if value in pool]
        if value.startswith("t("):
            shape, kind = re.findall(r"'([^']*)'", value)[:2]
            if self.often(0.4):
                return f"t({shape!r}, {self.pick(DTYPES)!r})"
            return f"t({self.pick(SHAPES)!r}, {kind!r})"
        return str(self.pick(pools[0] if pools else HOSTILE))

    def pick(self, texts: Any) -> Any:
        return self.random.choice(texts)

    def often(self, share: float) -> bool:
        return self.random.random() < share

    def tensor(self) -> str:
        kind = self.pick(DTYPES)
        learns = ", True" if self.often(0.1) and kind.startswith(("float", "complex")) else ""
        return f"t({self.pick(SHAPES)!r}, {kind!r}{learns})"

    def value(self, parameter: Parameter) -> str:
        """An argument for a parameter."""
        kind = parameter.type
        if kind.startswith("Tensor["):
            return "[" + ", ".join(self.tensor() for _ in range(self.pick((1, 2, 2, 3)))) + "]"
        if kind == "Tensor":
            return self.tensor()
        if kind == "int[]":
            return str(self.pick(INTS if parameter.size and self.often(0.5) else LISTS))
        return str(self.pick(POOLS.get(kind, HOSTILE)))

    def arguments(self, form: list[Parameter]) -> list[str]:
        """Arguments for a signature, some of them by name; the optional ones not always."""
        given, by_name = [], False
        for parameter in form:
            if parameter.optional and self.often(0.95 if parameter.name in RARE else 0.65):
                by_name = True
                continue
            by_name = by_name or parameter.keyword or self.often(0.1)
            value = self.value(parameter)
            given.append(f"{parameter.name}={value}" if by_name and parameter.name != "from" else value)
        places = [g for g in given if not re.match(r"\w+=", g)]
        return places + [g for g in given if g not in places]

    def of_signature(self, target: Random) -> Call:
        name = target.choice(self.signed)
        arguments = self.arguments(
            target.choice([form for form, is_current in forms(name) if is_current] or [[]])
        )
        if name.startswith("Tensor."):
            return Call(f"{self.tensor()}.{name.removeprefix('Tensor.')}", [arguments])
        return Call(place_of(name), [arguments])

    def of_function(self, target: Random) -> Call:
        name = target.choice(self.functional)
        return Call(f"F.{name}", [self.arguments(guessed(getattr(minigrad.nn.functional, name)))])

    def of_layer(self, target: Random) -> Call:
        name = target.choice(self.layers)
        made = self.arguments(guessed(getattr(minigrad.nn, name)))
        count = self.pick((1, 1, 1, 2, 3) if not name.endswith("Loss") else (2, 2, 2, 1, 3))
        return Call(f"nn.{name}", [made, [self.tensor() for _ in range(count)]])

    def of_index(self, target: Random) -> Call:
        key = [self.pick(KEYS) for _ in range(self.pick((1, 1, 2, 2, 3, 4)))]
        if target.random() < 0.3:
            value = self.pick((self.tensor(), self.pick(NUMBERS)))
            return Call(f"{self.tensor()}.__setitem__", [[sliced(key), value]])
        return Call(self.tensor(), [key], "[]")

    def of_operator(self, target: Random) -> Call:
        other = self.pick((self.tensor(), self.tensor(), self.pick(NUMBERS)))
        pair = [self.tensor(), other]
        self.random.shuffle(pair)
        return Call(f"operator.{target.choice(OPERATORS)}", [pair])


def is_called(name: str) -> bool:
    """Whether a name of the signatures is one to call: minigrad has it."""
    if SKIPPED.search(name) or NOT_CALLED.match(name.split(".")[-1]):
        return False
    place = place_of(name).split(".")
    space = {"L": minigrad, "F": minigrad.nn.functional, "Tensor": minigrad.Tensor}[place[0]]
    for part in place[1:]:
        if not hasattr(space, part):
            return False
        space = getattr(space, part)
    return True


def sliced(key: list[str]) -> str:
    """A key as an argument."""
    parts = []
    for part in key:
        bounds = [b or "None" for b in part.split(":")]
        parts.append(part if len(bounds) == 1 else f"slice({', '.join(bounds)})")
    return f"({parts[0]})" if len(parts) == 1 else f"({', '.join(parts)})"


def place_of(name: str) -> str:
    """Where a function of PyTorch's signatures is."""
    if name.startswith("Tensor."):
        return name
    part, _, rest = name.partition("_")
    if part in ("linalg", "special", "fft"):
        return f"L.{part}.{rest}"
    return f"L.{name}" if hasattr(minigrad, name) else f"F.{name}"


def python_names(space: Any) -> list[str]:
    names = [n for n in dir(space) if n[0] != "_" and not SKIPPED.search(n)]
    return [n for n in names if inspect.isroutine(getattr(space, n)) or inspect.isclass(getattr(space, n))]


# Types of parameters by parts of their names, as far as they are not tensors.
GUESSES = {
    part: kind
    for kind, parts in {
        "str": "reduction mode",
        "bool": "inplace bias affine _first training _batches keepdim ceil include return align",
        "float": "eps alpha beta lambd slope momentum margin threshold value delta lower upper min max p",
        "int1": "size stride padding dilation _factor",
        "int": "features channels groups dim num_ padding_idx",
        "int[]": "shape",
        "dtype": "dtype",
        "Device": "device",
    }.items()
    for part in parts.split()
}


def guessed(function: Any) -> list[Parameter]:
    """The parameters of a function or class of Python, their types guessed by their names."""
    form = []
    for p in inspect.signature(function).parameters.values():
        if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            continue
        exact = GUESSES.get(p.name) if len(p.name) > 1 or p.name == "p" else None
        kind = exact or next((k for part, k in GUESSES.items() if len(part) > 1 and part in p.name), "Tensor")
        optional = p.default is not p.empty
        size = 1 if kind == "int1" else 0
        if p.name == "bias" and not inspect.isclass(function):
            kind = "Tensor"
        form.append(
            Parameter(p.name, "int[]" if size else kind, size, optional, False, p.kind is p.KEYWORD_ONLY)
        )
    return form


class End:
    """How a call ended in a library."""

    def __init__(self, library: Any, call: str) -> None:
        self.result: Any = None
        self.error: Exception | None = None
        library.manual_seed(0)
        with warnings.catch_warnings(), dialect("2"), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                self.result = eval(call, names_of(library))
            except Exception as error:
                self.error = error

    def text(self) -> str:
        if self.error is None:
            return text_of(self.result)
        first = str(self.error).split("\n")[0]
        return f"{type(self.error).__name__}: {first}".replace("minigrad.", "torch.")


def text_of(result: Any) -> str:
    if isinstance(result, (tuple, list)):
        return f"({', '.join(map(text_of, result))})"
    if is_tensor(result):
        if dtype_of(result) == "complex32":
            return "complex32"
        return f"{dtype_of(result)}{list(result.shape)} {str(numbers(result).tolist())[:300]}"
    return f"{type(result).__name__} {str(result)[:50]}"


def is_raised(error: BaseException) -> bool:
    """Whether a statement of minigrad raises an error, and none of NumPy or Python inside it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    if not code.co_filename.startswith(HOME):
        return False
    instruction = next(i for i in dis.get_instructions(code) if i.offset == trace.tb_lasti)
    return instruction.opname in ("RAISE_VARARGS",)


def is_chained(error: BaseException) -> bool:
    """Whether a traceback shows another error before this one."""
    return error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__)


def close(ours: Any, theirs: Any) -> bool:
    """Whether results agree in dtype, shape and, roughly, numbers."""
    if isinstance(theirs, (tuple, list)) and not is_tensor(theirs):
        return isinstance(ours, (tuple, list)) and len(ours) == len(theirs) and all(map(close, ours, theirs))
    if not is_tensor(theirs):
        return is_tensor(ours) == is_tensor(theirs) and (
            type(ours) is type(theirs) or type(theirs).__module__ != "builtins"
        )
    if dtype_of(theirs) == "complex32":
        return True  # NumPy has no such dtype
    if not is_tensor(ours) or dtype_of(ours) != dtype_of(theirs) or tuple(ours.shape) != tuple(theirs.shape):
        return False
    a, b = numbers(ours), numbers(theirs)
    loose = 2e-2 if dtype_of(theirs) == "float16" else 2e-4
    return (
        bool(np.allclose(a, b, rtol=loose, atol=loose, equal_nan=True))
        if a.dtype.kind in "fc"
        else bool((a == b).all())
    )


def same_shapes(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, (tuple, list)) and not is_tensor(theirs):
        return (
            isinstance(ours, (tuple, list))
            and len(ours) == len(theirs)
            and all(map(same_shapes, ours, theirs))
        )
    if not is_tensor(theirs):
        return is_tensor(ours) == is_tensor(theirs)
    return is_tensor(ours) and dtype_of(ours) == dtype_of(theirs) and tuple(ours.shape) == tuple(theirs.shape)


# What minigrad refuses with a text of its own.
LEFT_OUT = re.compile(
    r"minigrad has no |minigrad's \w+ has no |.*unexpected keyword argument '(out|scale|input_scale)'"
)
# What Python says of a value of a wrong type: PyTorch's functions in Python say so wherever it happens.
PYTHONS = re.compile(
    r"integer division or modulo|'?[\w.]+'? object (has no|is not|cannot|does not|of type)"
    r"|.*unsupported operand|.*has no attribute|.*not supported between|object of type"
    r"|can't multiply sequence|can only concatenate|unhashable|Boolean value of Tensor|unsupported format"
    r"|.*only one element tensors"
    r"|iteration over|len\(\) of|.*cannot be converted to Scalar|.*must be (real|a) number"
    r"|.*referenced before|tuple index out of range"
)
COUNTS = re.compile(
    r".*\(\) (missing|takes|got (multiple|an unexpected))|.*missing (a )?required| expected \d arg"
)
PARSERS = re.compile(
    r".*(must be|but found element of type|failed to unpack) |.* received an invalid combination"
)


# What stays different, by a pattern of the difference and the call, with the reason.
KNOWN = {
    "PyTorch multiplies nothing without a look at dtypes": r"error: RuntimeError: expected scalar type ",
    "PyTorch draws nothing before it looks at the dtype": (
        r"error: (NotImplementedError: .(normal|bernoulli)|RuntimeError: "
        r"(Exponential|expand\(|The expanded size).*(bernoulli|exponential|gumbel|normal|randn))"
    ),
    "sizes and indices of nothing that PyTorch does not check": (
        r"(no error|error|result): .*\t.*(pixel_unshuffle|PixelUnshuffle|scaled_dot_product|bincount"
        r"|output_size=-?\d|pinv|svd|fftfreq|histogram|nn.Conv1d\(0|L.cat|conv1d|index_fill|scatter"
        r"|embedding_bag|pairwise_distance|max_pool1d|cummax|cummin)"
    ),
    "borders cut away to nothing": r"no error: .*(Reflection|Replication)Pad",
    "MKL refuses to transform nothing": r"no error: .*MKL FFT error",
    "a result of bools is never recorded, so PyTorch lets it be written into a leaf": (
        r"error: RuntimeError: a leaf Variable.*logical_"
    ),
    "elu_ and hardtanh_ are the out-of-place functions, with their checks": (
        r"(no error|error|result|class): .*\tF.(elu|hardtanh)_\("
    ),
    "a number of subtract is a keyword": r"(error|class): .*\b(subtract_?)\(",
    "the loss is in the dtype of both operands": (
        r"(no error|error|result): .*(huber_loss|HuberLoss|cross_entropy|BCEWithLogits)"
    ),
    "dtypes that a kernel of PyTorch lacks, and NumPy has": (
        r"(no error|error): .*(adaptive_avg_pool|AdaptiveAvgPool|matrix_power|logsumexp|bincount|histogram"
        r"|dist\(|round\(|AvgPool3d|avg_pool3d)"
    ),
    "the first of several reasons": (
        r"class: .*(unfold|Unfold|daptive|histogram|histc|embedding|clamp|clip|feature_dropout|dropout1d"
        r"|linalg_eig|\.dist|div expected|\.new\(|instance_norm|batch_norm|eigvalsh|solve|interpolate"
        r"|Upsample|scalar_tensor|matmul|rms_norm|RMSNorm|squeeze|scatter|PReLU|\(self=|bincount|oftshrink)"
    ),
    "out= of another dtype is converted to, or takes any size": r"(no error|error|result): .*\t.*out=",
    "a function takes more than PyTorch's": (
        r"no error: .*(L\.selu\(|gather\(\) takes|softmax\(\) takes|clone\(\))"
    ),
    "a complex number beside real ones": r"no error: .*(1j|2j)",
    "half complex numbers, and a number for a dtype": r"error: .*(complex32|\.to\()",
    "a parameter of integers": r"error: .*nn.PReLU",
    "infinity times complex zero, and large numbers near a pole": r"result: .*(\+nanj|digamma|polygamma)",
    "NaN as a number of a distribution or a border": r"(no error|error|result): .*float\('nan'\)",
}
IS_KNOWN = re.compile("|".join(f"({pattern})" for pattern in KNOWN.values()))


def plainly(text: str) -> str:
    """A text without the forms that would fit, and in no order of named arguments, which is chance."""
    text = text.partition(", but expected ")[0]
    text = re.sub(r" \(position \d+\)", "", text)
    head, _, inner = text.partition(" - got (")
    return head + " ".join(sorted(inner.rstrip("), ").split(", ")))


def found(torch: Any, seed: int, count: int) -> list[str]:
    """What is not as in PyTorch in so many calls, except for what is known."""
    calls = itertools.islice(Calls(torch, seed), count)
    differences = (f"{told}\t{call}" for call in calls if (told := differs(torch, call)))
    return [difference for difference in differences if not IS_KNOWN.match(difference)]


def differs(torch: Any, call: str) -> str:
    """What is not as in PyTorch; empty if all is.

    Arguments are checked only where a call fails, so one of a wrong type that has a meaning may be taken.
    Python says itself that there are too many or too few. The text of an error, of which there may be
    several reasons, is not compared.
    """
    ours, theirs = End(minigrad, call), End(torch, call)
    told = f"{ours.text()} | {theirs.text()}"
    mine, other = ours.error, theirs.error
    if mine is None and other is None:
        fits = same_shapes if SHAPE_ONLY.search(call) else close
        return "" if fits(ours.result, theirs.result) else f"result: {told}"
    if mine is None:
        is_parsers = isinstance(other, TypeError) and PARSERS.match(str(other))
        return "" if is_parsers or PYTHONS.match(str(other)) else f"no error: {told}"
    if LEFT_OUT.match(str(mine)):
        return ""
    if other is None:
        return f"error: {told}"
    if is_chained(mine):
        return f"chained: {told}"
    are_pythons = PYTHONS.match(str(other)) is not None
    is_count = isinstance(mine, TypeError) and COUNTS.match(str(mine)) is not None
    if type(mine).__name__ != type(other).__name__ and not (are_pythons and is_raised(mine)):
        return f"class: {told}"
    fits = are_pythons or is_count or plainly(ours.text()) == plainly(theirs.text())
    return "" if fits or is_raised(mine) else f"raw: {told}"
