"""A program computed from its syntax tree, with minigrad, so that a change of it can be tried.

Note [What an interpreter may do]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
The user's program is not run again: nothing of its objects is touched, nothing is printed, no file is opened.
Statements, functions and classes are walked here as trees, and only operations of the library, and a few
functions of Python's, are computed. Random numbers that were recorded are taken from the recording, and so
is a tensor that was made of something else. A loop is walked for `ROUNDS` rounds, a program for `STATEMENTS`
statements with tensors of up to `ELEMENTS` elements. A variable may get a value that is not known here, and
what is done with such alone (a plot) is left out. Whatever else goes beyond raises `CannotTry`: then nothing
is known.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import minigrad
from minigrad import Tensor

from ..protocol import Value
from ..trace.events import TensorState

ROUNDS = 8  # of a loop
STATEMENTS = 600
ELEMENTS = 20_000
RANDOM = ("rand", "randn", "randint", "randperm", "normal", "rand_like", "randn_like")  # new tensors
BUILTINS = {
    name: getattr(builtins, name)
    for name in (
        "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "filter", "float", "hasattr",
        "int", "isinstance", "len", "list", "map", "max", "min", "object", "pow", "range", "repr",
        "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip", "classmethod", "property",
        "staticmethod", "AttributeError", "Exception", "IndexError", "KeyError", "RuntimeError",
        "TypeError", "ValueError",
    )
}  # fmt: skip
# What reaches beyond the tensors of a program: files, processes, settings of a whole library.
REFUSED = {
    "compile", "core", "ctypeslib", "distributed", "f2py", "fromfile", "fromregex", "genfromtxt", "hub",
    "install", "install_as_torch", "lib", "load", "loadtxt", "memmap", "multiprocessing", "observing",
    "open", "random", "save", "savetxt", "savez", "savez_compressed", "seterr", "seterrcall", "testing",
}  # fmt: skip
ALLOWED = ("set_grad_enabled",)
KINDS = (
    Tensor, minigrad.nn.Module, minigrad.optim.Optimizer, types.ModuleType, type, dict, list, tuple, str, set,
    int, float, types.SimpleNamespace, np.ndarray, np.generic,
    type(None),
)  # fmt: skip
PACKAGES: Mapping[str, Any] = {"torch": minigrad, "minigrad": minigrad, "math": math, "numpy": np}
# What these names stand for where an earlier cell has the import.
USUAL: Mapping[str, Any] = {
    "nn": minigrad.nn, "F": minigrad.nn.functional, "optim": minigrad.optim, "np": np, "math": math,
}  # fmt: skip
UNKNOWN = object()  # a value that is not known here
AUGMENTED: Mapping[type[ast.operator], str] = {
    ast.Add: "__iadd__", ast.Sub: "__isub__", ast.Mult: "__imul__", ast.Div: "__itruediv__",
    ast.Pow: "__ipow__", ast.MatMult: "__imatmul__",
}  # fmt: skip
UNARY: Mapping[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip
BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip
COMPARE: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


class CannotTry(Exception):
    """Something cannot be computed here."""


class ReturnSignal(Exception):
    """A function returns."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class LeaveSignal(Exception):
    """`break` or `continue`."""

    def __init__(self, whole: bool) -> None:
        super().__init__()
        self.whole = whole


class Scope:
    """The variables of a function, or of the program, inside those `around` it."""

    def __init__(self, around: Scope | None = None, names: dict[str, Any] | None = None) -> None:
        self.around, self.names = around, {} if names is None else names

    def find(self, name: str) -> Scope | None:
        """The scope that has a variable."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.around
        return scope


class Interpreter:
    """Walks a program. `given` has the tensors that were there before it, `drawn` by the text of a call the
    random tensors that it gave, in their order."""

    def __init__(self, given: Mapping[str, Any], drawn: Mapping[str, list[TensorState]]) -> None:
        self.top = Scope(None, {"torch": minigrad, "__name__": "__main__", **given})
        self.drawn = {text: list(values) for text, values in drawn.items()}
        self.left = STATEMENTS
        self.classes = set[type]()  # of the program

    @property
    def walked(self) -> int:
        """How many statements were walked."""
        return STATEMENTS - self.left

    # ── statements ──────────────────────────────────────────────────────────────────────────────────────────

    def block(self, body: list[ast.stmt], scope: Scope) -> None:
        """Walk statements."""
        for statement in body:
            self.left -= 1
            if self.left < 0:
                raise CannotTry
            self.statement(statement, scope)

    def statement(self, tree: ast.stmt, scope: Scope) -> None:
        """Walk one statement."""
        match tree:
            case ast.Expr(value=value):
                if not self.is_unknown(value, scope):
                    self.value(value, scope)
            case ast.Assign(targets=targets, value=value):
                plain = all(isinstance(target, ast.Name) for target in targets)
                result = self.known_or_not(value, scope) if plain else self.value(value, scope)
                for target in targets:
                    self.assign(target, result, scope)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, self.value(value, scope), scope)
            case ast.AugAssign(target=target, op=op, value=value):
                self.augment(target, type(op), value, scope)
            case ast.Pass() | ast.AnnAssign():
                pass
            case ast.Return(value=value):
                raise ReturnSignal(None if value is None else self.value(value, scope))
            case ast.Break() | ast.Continue():
                raise LeaveSignal(isinstance(tree, ast.Break))
            case ast.If(test=test, body=body, orelse=orelse):
                self.block(body if self.value(test, scope) else orelse, scope)
            case ast.For(target=target, iter=over, body=body, orelse=[]):
                self.loop(target, self.value(over, scope), body, scope)
            case ast.While(test=test, body=body, orelse=[]):
                for _ in range(ROUNDS):
                    if not self.value(test, scope) or not self.round(body, scope):
                        break
            case ast.With(items=items, body=body):
                self.with_block(items, body, scope)
            case ast.FunctionDef(name=name, decorator_list=decorators):
                self.assign_name(name, self.decorated(self.function(tree, scope), decorators, scope), scope)
            case ast.ClassDef(name=name):
                self.assign_name(name, self.new_class(tree, scope), scope)
            case ast.Import(names=names):
                for alias in names:
                    self.imported(alias.name, alias.asname, scope)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    whole = self.package(module)
                    value = UNKNOWN if whole is UNKNOWN else self.member(whole, alias.name)
                    self.assign_name(alias.asname or alias.name, value, scope)
            case ast.ImportFrom(names=names):  # of a file whose text may stand above
                for alias in names:
                    scope.names.setdefault(alias.asname or alias.name, UNKNOWN)
            case ast.Try(body=body, handlers=handlers, orelse=[], finalbody=[]):
                self.attempt(body, handlers, scope)
            case ast.Delete(targets=targets) if all(isinstance(each, ast.Name) for each in targets):
                for target in targets:
                    scope.names.pop(ast.unparse(target), None)
            case ast.Assert(test=test):
                if not self.value(test, scope):
                    raise CannotTry
            case _:
                raise CannotTry

    def loop(self, target: ast.expr, values: Any, body: list[ast.stmt], scope: Scope) -> None:
        """Walk the first rounds of a loop."""
        for number, value in enumerate(values):
            self.assign(target, value, scope)
            if not self.round(body, scope) or number == ROUNDS - 1:
                break

    def round(self, body: list[ast.stmt], scope: Scope) -> bool:
        """Walk the body of a loop once; whether the loop goes on."""
        try:
            self.block(body, scope)
        except LeaveSignal as leave:
            return not leave.whole
        return True

    def with_block(self, items: list[ast.withitem], body: list[ast.stmt], scope: Scope) -> None:
        """Walk a block below `with torch.no_grad():` and the like."""
        if not items:
            return self.block(body, scope)
        manager = self.value(items[0].context_expr, scope)
        if not type(manager).__module__.startswith("minigrad."):
            raise CannotTry
        with manager as entered:
            if items[0].optional_vars is not None:
                self.assign(items[0].optional_vars, entered, scope)
            return self.with_block(items[1:], body, scope)

    def attempt(self, body: list[ast.stmt], handlers: list[ast.ExceptHandler], scope: Scope) -> None:
        """Walk a block, and the handler of what it raises."""
        try:
            self.block(body, scope)
        except (ReturnSignal, LeaveSignal, CannotTry):
            raise
        except Exception as error:
            for handler in handlers:
                kind = Exception if handler.type is None else self.value(handler.type, scope)
                if isinstance(error, kind):
                    scope.names |= {handler.name: error} if handler.name else {}
                    self.block(handler.body, scope)
                    return
            raise

    def imported(self, module: str, name: str | None, scope: Scope) -> None:
        """Give a name to a module."""
        first = module.partition(".")[0]
        self.assign_name(name or first, self.package(module if name else first), scope)

    def package(self, path: str) -> Any:
        """A part of the library, of `math` or of NumPy; other packages are not known."""
        first, *rest = path.split(".")
        found: Any = PACKAGES.get(first, UNKNOWN)
        for name in rest if found is not UNKNOWN else ():
            found = self.member(found, name)
        return found

    def is_unknown(self, tree: ast.expr, scope: Scope) -> bool:
        """Whether an expression is about a value that is not known: `plt.plot(losses)`."""
        while isinstance(tree, ast.Call | ast.Attribute | ast.Subscript):
            tree = tree.func if isinstance(tree, ast.Call) else tree.value
        name = tree.id if isinstance(tree, ast.Name) else ""
        found = scope.find(name)
        return found is not None and found.names[name] is UNKNOWN

    def known_or_not(self, tree: ast.expr, scope: Scope) -> Any:
        """What an expression is; UNKNOWN where that is not known, except what a call may have done."""
        try:
            return self.value(tree, scope)
        except CannotTry:
            if self.left < 0 or not (self.is_unknown(tree, scope) or names_random(tree)):
                raise
            return UNKNOWN

    # ── assignments ─────────────────────────────────────────────────────────────────────────────────────────

    def assign_name(self, name: str, value: Any, scope: Scope) -> None:
        """Give a variable a value."""
        scope.names[name] = value

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Assign a value to what is on the left of `=`."""
        match target:
            case ast.Name(id=name):
                self.assign_name(name, value, scope)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                values = list(value)
                if len(values) != len(parts) or any(isinstance(part, ast.Starred) for part in parts):
                    raise CannotTry
                for part, each in zip(parts, values, strict=True):
                    self.assign(part, each, scope)
            case ast.Attribute(value=owner, attr=name) if not name.startswith("__"):
                whole = self.value(owner, scope)
                if isinstance(whole, types.ModuleType):
                    raise CannotTry
                setattr(whole, name, value)
            case ast.Subscript(value=owner, slice=index):
                self.value(owner, scope)[self.value(index, scope)] = value
            case _:
                raise CannotTry

    def augment(self, target: ast.expr, op: type[ast.operator], value: ast.expr, scope: Scope) -> None:
        """Walk `x += value`: in place where that can be."""
        old, new = self.value(target, scope), self.value(value, scope)
        method = getattr(old, AUGMENTED.get(op, ""), None)
        result = NotImplemented if method is None else method(new)
        if result is NotImplemented:
            result = self.binary(op)(old, new)
        self.assign(target, self.checked(result), scope)

    # ── expressions ─────────────────────────────────────────────────────────────────────────────────────────

    def value(self, tree: ast.expr, scope: Scope) -> Any:
        """What an expression is."""
        match tree:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.variable(name, scope)
            case ast.Attribute(value=owner, attr=name):
                return self.member(self.value(owner, scope), name)
            case ast.BinOp(left=left, op=op, right=right):
                return self.checked(self.binary(type(op))(self.value(left, scope), self.value(right, scope)))
            case ast.UnaryOp(op=op, operand=operand):
                return UNARY[type(op)](self.value(operand, scope))
            case ast.BoolOp(op=op, values=values):
                return self.either(isinstance(op, ast.Or), values, scope)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return COMPARE[type(op)](self.value(left, scope), self.value(right, scope))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test, scope) else orelse, scope)
            case ast.Tuple(elts=parts):
                return tuple(self.parts(parts, scope))
            case ast.List(elts=parts):
                return list(self.parts(parts, scope))
            case ast.Dict(keys=keys, values=values) if None not in keys:
                pairs = zip(keys, values, strict=True)
                return {self.value(k, scope): self.value(v, scope) for k, v in pairs if k is not None}
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(
                    *(None if end is None else self.value(end, scope) for end in (lower, upper, step))
                )
            case ast.Subscript(value=owner, slice=index):
                return self.checked(self.value(owner, scope)[self.value(index, scope)])
            case ast.Call():
                return self.checked(self.call(tree, scope))
            case ast.Lambda():
                return self.function(tree, scope)
            case ast.JoinedStr(values=values):
                return "".join(str(self.value(part, scope)) for part in values)
            case ast.FormattedValue(value=inner, format_spec=spec):
                return format(self.value(inner, scope), "" if spec is None else self.value(spec, scope))
            case ast.DictComp(key=key, value=part, generators=loops):
                scopes = self.rounds(loops, Scope(scope))
                return {self.value(key, inner): self.value(part, inner) for inner in scopes}
            case ast.ListComp(elt=part, generators=loops) | ast.GeneratorExp(elt=part, generators=loops):
                return [self.value(part, inner) for inner in self.rounds(loops, Scope(scope))]
        raise CannotTry

    def variable(self, name: str, scope: Scope) -> Any:
        """What a variable stands for."""
        found = scope.find(name)
        if found is not None and found.names[name] is UNKNOWN:
            raise CannotTry
        if found is not None:
            return found.names[name]
        if name in BUILTINS or name in USUAL:
            return BUILTINS.get(name, USUAL.get(name))
        raise CannotTry

    def member(self, owner: Any, name: str) -> Any:
        """An attribute, unless it reaches beyond what a program computes."""
        if name.startswith("__") and name not in ("__init__", "__name__", "__class__"):
            raise CannotTry
        inside = isinstance(owner, KINDS) or type(owner).__module__.startswith("minigrad.")
        inside = inside or type(owner) in self.classes
        if not inside and not isinstance(owner, super):
            raise CannotTry
        if isinstance(owner, types.ModuleType):
            settings = name.startswith(("set_", "register_module")) and name not in ALLOWED
            if owner.__name__.partition(".")[0] not in PACKAGES or name in REFUSED or settings:
                raise CannotTry
        if isinstance(owner, np.ndarray | np.generic) and name in ("tofile", "dump"):
            raise CannotTry
        return getattr(owner, name)

    def binary(self, op: type[ast.operator]) -> Callable[[Any, Any], Any]:
        """What an operator computes."""
        found = BINARY.get(op)
        if found is None:
            raise CannotTry
        return found

    def either(self, stop: bool, values: list[ast.expr], scope: Scope) -> Any:
        """`a or b` (`stop` at what is true), or `a and b`."""
        result: Any = None
        for each in values:
            result = self.value(each, scope)
            if bool(result) is stop:
                break
        return result

    def parts(self, trees: list[ast.expr], scope: Scope) -> Iterator[Any]:
        """Expressions one by one, with those of `*several`."""
        for tree in trees:
            if isinstance(tree, ast.Starred):
                yield from self.value(tree.value, scope)
            else:
                yield self.value(tree, scope)

    def rounds(self, loops: list[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        """The rounds of a comprehension."""
        if not loops:
            yield scope
            return
        for value in list(self.value(loops[0].iter, scope))[:100]:
            self.assign(loops[0].target, value, scope)
            if all(self.value(test, scope) for test in loops[0].ifs):
                yield from self.rounds(loops[1:], scope)

    def call(self, tree: ast.Call, scope: Scope) -> Any:
        """What a call gives: a random tensor, and one that was made of what is not known, as recorded."""
        name = getattr(tree.func, "attr", getattr(tree.func, "id", ""))
        known = self.drawn.get(ast.unparse(tree))
        if name in RANDOM and known:
            return leaf_of(known.pop(0))
        try:
            return self.called(tree, scope)
        except CannotTry:
            if not known or self.left < 0:
                raise
            return leaf_of(known.pop(0))

    def called(self, tree: ast.Call, scope: Scope) -> Any:
        """What the function of a call returns."""
        plain = getattr(tree.func, "id", "")
        if plain == "print":
            return None
        arguments = list(self.parts(tree.args, scope))
        if plain == "super" and not arguments:
            cell = scope.find("__class__")
            if cell is None:
                raise CannotTry
            return super(cell.names["__class__"], next(iter(scope.names.values())))
        options = {each.arg: self.value(each.value, scope) for each in tree.keywords if each.arg is not None}
        if len(options) != len(tree.keywords):
            raise CannotTry
        result = self.value(tree.func, scope)(*arguments, **options)
        return list(result) if isinstance(result, map | filter | zip | enumerate) else result

    def checked(self, value: Any) -> Any:
        """A value, unless it is too large to go on with."""
        if isinstance(value, Tensor) and value.numel() > ELEMENTS:
            raise CannotTry
        return value

    # ── functions and classes ───────────────────────────────────────────────────────────────────────────────

    def function(self, tree: ast.FunctionDef | ast.Lambda, scope: Scope) -> Callable[..., Any]:
        """A function that walks its body when it is called."""
        given = tree.args
        names = [each.arg for each in (*given.posonlyargs, *given.args)]
        defaults = dict(
            zip(names[len(names) - len(given.defaults) :], self.parts(given.defaults, scope), strict=True)
        )
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
            defaults |= {} if default is None else {each.arg: self.value(default, scope)}
        every = {*names, *(each.arg for each in given.kwonlyargs)}

        def walk(*arguments: Any, **options: Any) -> Any:
            own = dict(zip(names, arguments))
            if given.vararg is not None:
                own[given.vararg.arg] = arguments[len(names) :]
            elif len(arguments) > len(names):
                raise TypeError(too_many(walk.__qualname__, names, defaults, len(arguments)))
            own |= {**{k: v for k, v in defaults.items() if k not in own}, **options}
            if own.keys() - every - {given.vararg and given.vararg.arg} or not every <= own.keys():
                raise CannotTry
            inner = Scope(scope, own)
            if isinstance(tree, ast.Lambda):
                return self.value(tree.body, inner)
            try:
                self.block(tree.body, inner)
            except ReturnSignal as end:
                return end.value
            return None

        walk.__qualname__ = walk.__name__ = getattr(tree, "name", "<lambda>")
        return walk

    def decorated(self, value: Any, decorators: list[ast.expr], scope: Scope) -> Any:
        """A function as its decorators leave it."""
        for each in reversed(decorators):
            value = self.value(each, scope)(value)
        return value

    def new_class(self, tree: ast.ClassDef, scope: Scope) -> type:
        """A class whose methods are walked."""
        if tree.keywords or tree.decorator_list:
            raise CannotTry
        bases = tuple(self.parts(tree.bases, scope))
        around = Scope(scope)  # of the methods: these do not see the names of the class
        body: dict[str, Any] = {}
        for statement in tree.body:
            match statement:
                case ast.FunctionDef(name=name, decorator_list=decorators):
                    method = self.function(statement, around)
                    method.__qualname__ = f"{tree.name}.{name}"
                    body[name] = self.decorated(method, decorators, scope)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    body[name] = self.value(value, scope)
                case ast.Pass() | ast.Expr(value=ast.Constant()):
                    pass
                case _:
                    raise CannotTry
        made = types.new_class(tree.name, bases, exec_body=lambda space: space.update(body))
        around.names["__class__"] = made
        self.classes.add(made)
        return made


def too_many(name: str, names: list[str], defaults: Mapping[str, Any], count: int) -> str:
    """What Python says about too many arguments."""
    most, optional = len(names), sum(each in defaults for each in names)
    takes = f"from {most - optional} to {most}" if optional else str(most)
    plural = "s" if most != 1 or optional else ""
    was = "was" if count == 1 else "were"
    return f"{name}() takes {takes} positional argument{plural} but {count} {was} given"


def names_random(tree: ast.AST) -> bool:
    """Whether an expression draws random numbers of Python's or NumPy's."""
    return any("random" in (getattr(part, "attr", ""), getattr(part, "id", "")) for part in ast.walk(tree))


def leaf_of(state: TensorState) -> Tensor:
    """A leaf as it was recorded."""
    if state.value is None or not state.is_leaf:
        raise CannotTry
    made = tensor_of(state.value)
    leaf = minigrad.nn.Parameter(made) if state.parameter else made
    return leaf.requires_grad_(state.requires_grad)


def tensor_of(value: Value) -> Tensor:
    """A tensor with the numbers of a snapshot."""
    if not hasattr(minigrad, value.dtype) or value.size > ELEMENTS:
        raise CannotTry
    flat = minigrad.tensor(numbers_of(value), dtype=getattr(minigrad, value.dtype))
    return flat.reshape(value.shape).detach()


def numbers_of(value: Value) -> list[Any]:
    """The numbers of a snapshot. Of a large one, which has only its extremes, numbers between these."""
    if value.items is not None:
        return list(value.items)
    if value.low is None or value.high is None or value.special or value.size > ELEMENTS:
        raise CannotTry
    return [float(number) for number in np.linspace(value.low, value.high, value.size)]


def is_finite(tensor: Tensor) -> bool:
    """Whether all numbers of a tensor are finite."""
    return bool(np.isfinite(np.asarray(tensor.detach().numpy(), dtype=float)).all())
