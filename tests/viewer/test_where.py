"""Every operation of a cell is found at its exact place in the source and named by what it is assigned to."""

from __future__ import annotations

import asyncio
import dis
import inspect
import linecache
import subprocess
import sys
import textwrap
import timeit
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import Iterator
from types import CodeType, SimpleNamespace

import pytest

from minigrad_viz.trace.source_positions import Locator, Span

pytestmark = pytest.mark.quick


class Probe:
    """Stands in for a tensor: whatever is done with it asks the locator where it stands."""

    def __init__(self, record):
        vars(self)["record"] = record

    def _op(self, *_args: object) -> Probe:
        return self.record()

    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = __pow__ = __truediv__ = __matmul__ = __mod__ = _op
    __imul__ = __isub__ = __neg__ = __getitem__ = __setitem__ = __gt__ = __call__ = __enter__ = log = sum = (
        _op
    )
    T = property(_op)

    def __bool__(self) -> bool:
        return self.record() is None

    def __iter__(self) -> Iterator[Probe]:
        self.record()
        return iter(())

    def __exit__(self, *_error: object) -> None:
        return None

    def __setattr__(self, name: str, value: object) -> None:
        self.record()


def here(locator: Locator, depth: int = 2) -> Span | None:
    """The expression that a frame evaluates."""
    frame = sys._getframe(depth)
    while frame is not None and frame.f_globals is globals():  # this file would be one of the program's
        frame = frame.f_back
    spot = locator.at(frame)
    return None if spot is None else spot.span


class Cell:
    """Runs source under a locator and keeps the span of each operation in `spans`."""

    def __init__(self, source: str, **namespace: object):
        tensors = {name: Probe(self.record) for name in ("x", "y", "z", "w", "가중치")}
        self.namespace = {**tensors, "torch": SimpleNamespace(log=tensors["x"]), **namespace}
        self.source, self.spans = source, []
        self.locator = Locator(source, self.namespace)

    def record(self) -> Probe:
        self.spans.append(here(self.locator))
        return Probe(self.record)

    def run(self, source: str | None = None, file: str = "<timed exec>") -> Cell:
        text = self.source if source is None else source
        code = compile(text, file, "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        result = eval(code, self.namespace)
        if inspect.iscoroutine(result):
            asyncio.run(result)
        return self

    @property
    def found(self) -> str:
        """Name, if any, and text of each operation: "y = x ** 3 | torch.log(y)"."""
        named = [(self.locator._texts.name_of(span), span.text) for span in self.spans if span]
        return " | ".join(f"{name} = {text}" if name else text for name, text in named)


# What runs, and the operations found in it, each after the name its result goes by.
EXPRESSIONS = {
    "y = x ** 3": "y = x ** 3",
    "z = torch.log(y)": "z = torch.log(y)",
    "z = y.log()": "z = y.log()",
    "z = -x": "z = -x",
    "z = 2 * x + y": "2 * x | z = 2 * x + y",
    "z = ((x * y))": "z = x * y",
    "z: object = x @ y": "z = x @ y",
    "a = b = torch.log(y)": "a = torch.log(y)",
    "(a, b) = x * y, -x": "a = x * y | b = -x",
    "a, (b, c) = x.T, (x[0], -x)": "a = x.T | b = x[0] | c = -x",
    "a, *b = -x, x * 2": "-x | x * 2",
    "x *= 2": "x = x *= 2",
    "h = [x]; h[0] = x * 2": "h[0] = x * 2",
    "h = [x]; h[0] *= 2": "h[0] = h[0] *= 2",
    "torch.w = x * 2; torch.w -= 2": "torch.w = x * 2 | torch.w = torch.w -= 2",
    "z = (n := x * 2)": "n = x * 2",
    "z = [x * 2, -x]": "x * 2 | -x",
    "z = x[0]; x[0] = 2": "z = x[0] | x[0]",
    "x.data = 2": "x.data",
    "print(f'가 {(x * 2) is None} 나 {x ** 3 is None}', end='')": "x * 2 | x ** 3",
    "f = lambda v: v ** 2\nz = f(x)": "v ** 2",
    "def cube(v):\n    w = v ** 3\n    return w\ny = cube(x)": "w = v ** 3",
    "z = [v * 2 for v in (x, y)]": "v * 2 | v * 2",
    "z = list(v * 2 for v in (x, y))": "v * 2 | v * 2",
    "for i in range(3):\n\tx = x * i": "x = x * i | x = x * i | x = x * i",
    "class Model:\n    w = x * 2": "w = x * 2",
    "async def f(v):\n    u = -v\n    return u\nawait f(x)\nz = x * 3": "u = -v | z = x * 3",
    # Columns are in characters: a Hangul syllable is three bytes to the compiler
    "이름 = '가나다'; y = x * 가중치  # 곱": "y = x * 가중치",
    "'🙂é가'; 손실 = torch.log(가중치)": "손실 = torch.log(가중치)",
    "torch.평균 = (x\n    .sum())\nx.합 = 1": "torch.평균 = x\n    .sum() | x.합",
    # 가 as two characters, which Python makes one
    "z\u1100\u1161 = x * y\nz = z\u1100\u1161 * 2": "z가 = x * y | z = z\u1100\u1161 * 2",
    # Several lines
    "z = (x *\n       y\n     +\n     3)": "x *\n       y | z = x *\n       y\n     +\n     3",
    "w = torch.log(\n    x,\n)": "w = torch.log(\n    x,\n)",
    "z = (x\n .log() # 가\n .T)": "x\n .log() | z = x\n .log() # 가\n .T",
    "s = 'a\x0cb\u2028c'\r\ny = x * 2\rz = -x": "y = x * 2 | z = -x",
    # Statements that evaluate something themselves
    "for i in x:\n    pass": "x",
    "if (x\n  .sum()):\n    y = 1": "x\n  .sum() | x\n  .sum()",
    "while x > 1:\n    y = 2": "x > 1 | x > 1",
    "with x as v:\n    z = v * 2": "x | z = v * 2",
    "try:\n    assert x, 'why'\nexcept AssertionError: pass": "x",
}


@pytest.mark.parametrize("source", EXPRESSIONS)
def test_expression_and_name(source):
    cell = Cell(source).run()
    assert cell.found == EXPRESSIONS[source]
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for span in cell.spans:  # the columns stand for the text
        before, last = "\n".join(lines[: span.end_line - 1]), lines[span.end_line - 1]
        whole = (before + "\n" if before else "") + last[: span.end_column]
        assert whole.endswith(span.text) and lines[span.line - 1][span.column :].startswith(
            span.text.split("\n")[0]
        )


def test_lines_count_from_one_and_columns_from_zero():
    assert Cell("\n\n  \nif 1:\n    y = x ** 3  # cubed\n").run().spans == [Span(5, 8, 5, 14, "x ** 3")]


# ---------------------------------------------------------------------------------- which frame, which source


def test_none_outside_the_namespace_and_depth_counts_outward():
    assert here(Locator("y = x", {})) is None
    cell = Cell("def inner(): return look()\ns = inner()")
    for depth, text in ((2, "look()"), (3, "inner()")):
        cell.namespace["look"] = lambda depth=depth: here(cell.locator, depth)
        assert cell.run().namespace["s"].text == text


def test_other_modules_are_looked_through():
    elsewhere: dict = {}
    exec("def mean(v):\n    return [v * 2, v.sum()][-1]", elsewhere)
    assert Cell("y = mean(x)", mean=elsewhere["mean"]).run().found == "y = mean(x) | y = mean(x)"


def remember(monkeypatch: pytest.MonkeyPatch, file: str, source: str) -> None:
    monkeypatch.setitem(linecache.cache, file, (len(source), None, source.splitlines(keepends=True), file))


def test_function_of_an_earlier_cell_is_found_in_that_cell(monkeypatch):
    earlier = "# an earlier cell\ndef 제곱(v):\n    '가'; result = v ** 2; return result\n"
    remember(monkeypatch, "<cell-1>", earlier)
    cell = Cell("y = 제곱(x)\nz = -y").run(earlier, "<cell-1>").run(file="<cell-2>")
    assert cell.found == "result = v ** 2 | z = -y"
    assert [(span.line, span.origin) for span in cell.spans] == [(3, 1), (2, 0)]
    texts = ["\n".join(source.lines) for source in cell.locator._texts.sources]
    assert texts == [cell.source, earlier]


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        ("v ** 2", None),
        ("v ** 2", "w + 22"),
        ("v ** 2", "v + 22"),
        ("v * 2", "w * 2"),
        ("v.log()", "v.sum()"),
    ],
)
def test_function_whose_text_is_gone_is_located_at_its_call(monkeypatch, runs, text):
    if text is not None:
        remember(monkeypatch, "<cell-1>", f"def f(v):\n    return {text}\n")
    cell = Cell("y = 1\nz = f(x)").run(f"def f(v):\n    return {runs}\n", "<cell-1>").run()
    assert cell.found == "z = f(x)"


@pytest.mark.parametrize("code", ["q = x * 2", "y = x * 2", "y=x*2", "s * 1; x * 2", "s = x.T"])
def test_exec_in_the_namespace_is_located_at_its_call(code):
    call = f"exec({code!r}, globals())"
    assert Cell(f"s = 1\n{call}").run().found == call


WHOLE_LANGUAGE = textwrap.dedent(
    """
    import functools
    class Base:
        __slots__ = ('_w',)
        def call(self, *a, 나=1, **k): return a
    class Child(Base):
        kind: int = 3
        def call(self, *a, 나=1, **k):
            self.__w = 2
            def inner():
                return a, self.__w, __name__
            try:
                super().call(*a, **k); inner()
            except (ValueError, TypeError) as e:
                print(e)
            return [(i, j, 나) for i in a for j in [i, a] if j]
        __w = property(lambda s: 1, lambda s, v: None)
    def deco(f, *, opt=None):
        @functools.wraps(f)
        def g(*a, **k):
            nonlocal opt
            opt = f(*a, **k); return opt
        return g
    @deco
    def gen(a, b: int = 3, /, c='x') -> 'int':
        for i in (a, b, c):
            got = yield i, a
        yield from ()
    values = {k: v for k, v in zip('ab', [Child().call(1), list(gen(1))])}
    match values:
        case {'a': [first, *rest], **others} if first: t = f'{first!r:>{len(rest)}} {others=}'
        case Child(kind=q): pass
    async def co(n):
        async with cm() as m:
            return [i async for i in n if await m]
    del t
    s = x and y or (lambda *a, z=3: a)(x)
    assert not s, s
    """
)


def test_code_fits_its_own_source_whatever_python_does_on_the_side():
    locator = Locator(WHOLE_LANGUAGE, {})
    codes = list(all_codes(compile(WHOLE_LANGUAGE, "<cell>", "exec")))
    assert len(codes) > 12
    for code in codes:
        names = {
            step.argval for step in dis.get_instructions(code) if step.opname.startswith(("LOAD_", "BINARY"))
        }
        written = any(isinstance(name, str | tuple) and name not in ("__name__", "format") for name in names)
        if written and code.co_name not in ("Base", "__annotate__"):
            assert locator._sources[0].fits(code), code.co_name


def all_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from all_codes(constant)


# ------------------------------------------------------------------------------------------- IPython's syntax

WRITTEN = """\
%%autograd --step
%matplotlib inline
files = !ls "it's
y = x ** 3
if True:
    %timeit -n1 f(
    z = (y
         % 2)
torch.log?
w = -z"""
TRANSFORMED = """\
get_ipython().run_line_magic('autograd', 'cell --step')
get_ipython().run_line_magic('matplotlib', 'inline')
files = get_ipython().getoutput('ls "it\\'s')
y = x ** 3
if True:
    get_ipython().run_line_magic('timeit', '-n1 f(')
    z = (y
         % 2)
get_ipython().run_line_magic('pinfo', 'torch.log')
w = -z"""


@pytest.mark.parametrize("source", [WRITTEN, TRANSFORMED], ids=["written", "transformed"])
def test_cell_with_magics(source):
    ipython = SimpleNamespace(run_line_magic=lambda *_: None, getoutput=lambda _: [])
    cell = Cell(source, get_ipython=lambda: ipython).run(TRANSFORMED)
    assert cell.found == "y = x ** 3 | z = y\n         % 2 | w = -z"
    assert [span.line for span in cell.spans] == [4, 7, 10]


def test_operation_inside_a_line_magic_stands_on_its_line():
    cell = Cell("s = 1\nif s:\n    %time x * 2")
    cell.namespace["get_ipython"] = eval('lambda: lambda *_: eval("x * 2", space)', {"space": cell.namespace})
    cell.run("s = 1\nif s:\n    get_ipython()('time', 'x * 2')")
    assert cell.spans == [Span(3, 4, 3, 15, "%time x * 2")]


def test_text_that_is_no_python_has_places_but_no_names():
    cell = Cell("y = x * 2\nthis is no python").run("y = x * 2")
    assert cell.found == "x * 2"


# --------------------------------------------------------------------------------- without columns, and speed

NO_COLUMNS = """
import sys
from minigrad_viz.trace.source_positions import Locator
span_of = lambda spot: None if spot is None else spot.span
source = "s = 1\\nif s:\\n    y = look(s) + 가\\ndef other(): pass"
namespace = {"가": 1, "look": lambda v: spans.append(span_of(locator.at(sys._getframe(1)))) or 1}
locator, spans = Locator(source, namespace), []
exec(compile(source, "<timed exec>", "exec"), namespace)
exec("q = look(s)", namespace)
print(*spans, sep="\\n")
"""


def test_whole_line_where_python_keeps_no_columns():
    command = [sys.executable, "-X", "no_debug_ranges", "-X", "utf8", "-c", NO_COLUMNS]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [str(Span(3, 4, 3, 19, "y = look(s) + 가")), "None"]


def test_a_repeated_look_is_cheap():
    """Asked once for every traced operation: well below what the operation itself costs."""
    cell = Cell("best = clock(lambda: outer(x))")
    cell.namespace["clock"] = lambda call: min(timeit.repeat(call, number=2000, repeat=20)) / 2000
    cell.namespace["outer"] = lambda _: [here(cell.locator)]
    cell.run()
    assert cell.namespace["best"] < 10e-6  # 0.5 µs on an idle machine
