"""Tensors of the wrong dtype: integers where floating-point numbers are needed, two dtypes in one product,
indices that are not integers. Indices and dimensions that a tensor does not have."""

from __future__ import annotations

import ast
import itertools

from ..trace.graph import CAUSE, Explanation
from .case import Fix, Values, need, require
from .edits import Shape, replace_part
from .failed_call import FLOATING, WHOLE, FailedCall, Operand, call_rule
from .syntax import dim_in, last_name, operands_in, written_as

# ── dtypes ──────────────────────────────────────────────────────────────────────────────────────────────────

SHORT = {"long": "int64", "int": "int32", "float": "float32", "double": "float64", "half": "float16"}
METHODS = {"float32": ".float()", "float64": ".double()", "int64": ".long()"}


def convert_operand(failed: FailedCall, one: Operand, dtype: str) -> Fix | None:
    """The line that failed, with an operand converted to a dtype."""
    return failed.behind(one, METHODS.get(dtype, f".to(torch.{dtype})"))


@call_rule(
    "dtype_mismatch",
    r"mat1 and mat2 must have the same dtype, but got \w+ and {own}",
    r"expected m1 and m2 to have the same dtype, but got: [\w ]+ != (?P<own>[\w ]+)",
    "expected (?:both vectors to have same dtype|scalar type).*found {own}",
    "Expected input and other to have the same dtype, but got .*dtype {own}",
    "input and other dtypes must match",
    r"Input type \([\w .]+\) and (?:bias|weight) type \((?P<own>[\w .]+)\) should be the same",
)
def mismatch(failed: FailedCall, own: str = "") -> Explanation | None:
    """Two dtypes in one operation that takes only one."""
    if failed.module is not None:
        return in_layer(failed, own)
    given = [each for each in failed.operands if each.dtype.startswith((*WHOLE, *FLOATING))]
    pairs = [(a, b) for a, b in itertools.pairwise(given) if a.dtype != b.dtype]
    need(pairs)
    a, b = pairs[0]
    one, other = (a, b) if needs_change(a) > needs_change(b) else (b, a)
    return failed.explain("dtype_pair", convert_operand(failed, one, other.dtype), a=a, b=b)


def needs_change(one: Operand) -> tuple[bool, bool, bool]:
    """How much an operand is the one to be converted: whole numbers, else the one that does not require
    gradients, else the one of double precision."""
    return one.whole, not one.asks, one.dtype == "float64"


def in_layer(failed: FailedCall, told: str) -> Explanation | None:
    """The input of a layer does not have the dtype of its parameters, which is `told` as C++ has it: `Long`,
    `long int`, `Float`."""
    layer, own = require(failed.layer), require(SHORT.get(told.partition(" ")[0].lower()))
    need(layer.input.dtype != own)
    return failed.explain("dtype_layer", convert_operand(failed, layer.input, own), own=own)


@call_rule(
    "integer_input",
    "floating point or complex dtype. Got:|std and var.*only support|a floating point or complex tensor",
    "not implemented for '(?:Long|Int|Short|Byte|Char|Bool)'",
)
def whole_numbers(failed: FailedCall) -> Explanation | None:
    """Whole numbers were given to an operation that computes fractions."""
    mine = [each for each in failed.operands if each.whole]
    need(mine, failed.function, failed.module is None or len(mine) == 1)
    told: Values = {"name": mine[0], "function": failed.function, "method": ".float()"}
    return failed.explain("dtype_whole_why", failed.behind(mine[0], ".float()"), "convert_fix", **told)


@call_rule("integer_input", "can't be cast to the desired output type")
def result_type(failed: FailedCall) -> Explanation | None:
    """The result of an operation in place has fractions, and the tensor takes only whole numbers."""
    given = failed.operands[:1]
    need(given and given[0].whole, failed.module is None)
    fixes = (failed.copied("write_fix"), "convert_fix")
    return failed.explain("dtype_in_place_why", *fixes, name=given[0], method=".float()")


@call_rule(
    "index_dtype",
    "tensors used as indices must be long|only applicable to index tensor|Expected dtype int.* for index",
    "argument #1 'indices' to have|expected index to be|Index tensor is expected to be",
)
def index_dtype(failed: FailedCall) -> Explanation | None:
    """Indices are not integers."""
    given = failed.operands
    mine = [each for each in (*given[-1:], *given[1:]) if each.dtype.startswith(FLOATING)]
    need(mine)
    fixes = (failed.behind(mine[0], ".long()"), "convert_fix")
    return failed.explain("dtype_index_why", *fixes, name=mine[0], method=".long()")


# ── indices ─────────────────────────────────────────────────────────────────────────────────────────────────


@call_rule("index_range", "index {wrong} is out of bounds for dimension {dim} with size {size}")
def out_of_bounds(failed: FailedCall, wrong: int, dim: int, size: int) -> Explanation | None:
    """An index is not less than the size of the dimension."""
    need(failed.module is None, failed.operands and failed.operands[0].shape[dim : dim + 1] == (size,))
    return index_out_of_range(failed, dim, wrong)


@call_rule("index_range", "index out of range in self|element is out of DATA bounds")
def not_in_self(failed: FailedCall) -> Explanation | None:
    """The same in `index_select` and `embedding`, whose error tells neither the index nor the size."""
    given, dim = failed.operands, 0
    need(failed.module is None, failed.function in ("index_select", "embedding"), len(given) == 2)
    if failed.function == "index_select":
        dim = dim_in(failed.tree)
    else:
        failed.operands = given = given[::-1]
    need(-len(given[0].shape) <= dim < len(given[0].shape))
    low, high = map(int, require(given[1].range))
    return index_out_of_range(failed, dim % len(given[0].shape), low if low < 0 else high)


def index_out_of_range(failed: FailedCall, dim: int, wrong: int) -> Explanation:
    """The explanation for an index `wrong` into dimension `dim` of the first operand."""
    one, others = failed.operands[0].at(dim), failed.operands[1:]
    size = one.size
    marks, why, index = failed.mark_size(one, dim), "index_range_why", None
    for each in others:
        if each.dtype.startswith("int") and wrong in (each.range or ()) and is_index_of(failed, each, dim):
            why, index = "index_tensor_why", each
            marks += failed.mark(each, "mark_index", CAUSE, index=wrong)
            break
    fixes = (in_range(failed, wrong, size, index), "index_range_fix")
    return failed.explain(why, *fixes, marks=marks, name=one, last=size - 1, wrong=wrong, index=index)


def is_index_of(failed: FailedCall, index: Operand, dim: int) -> bool:
    """Whether a tensor is in the brackets for the dimension `dim`; in a call it is the only index."""
    node = failed.tree
    if not isinstance(node, ast.Subscript):
        return True
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    shifted = any(ast.unparse(each) in ("...", "None") for each in places[:dim])
    return not shifted and dim < len(places) and ast.unparse(places[dim]) == index.text


def in_range(failed: FailedCall, wrong: int, size: int, index: Operand | None) -> Fix | None:
    """What to do: count from 0, count as far as the tensor reaches, or take the last element."""
    if index is not None:
        return failed.put(index, "{} - 1", "index_from_zero_fix") if index.range == (1, size) else None
    literal = next((part for part in operands_in(failed.node) if ast.unparse(part) == str(wrong)), None)
    if literal is not None and wrong == size:
        return failed.rewrite({literal: str(size - 1)}, "index_last_fix", last=size - 1)
    return shorter_loop(failed, size) if wrong >= size else None


def shorter_loop(failed: FailedCall, size: int) -> Fix | None:
    """What to do about a loop that counts too far: `for i in range(5)`."""
    case, node = failed.case, failed.node
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} if node is not None else set()
    for loop in case.executed(ast.For):
        if not isinstance(loop.target, ast.Name):
            continue
        call = loop.iter
        inside = loop.lineno < getattr(node, "lineno", 0) <= (loop.end_lineno or 0)
        if inside and loop.target.id in names and isinstance(call, ast.Call) and last_name(call) == "range":
            fix = replace_part(case, call, {call.args[-1]: str(size)}) if len(call.args) < 3 else None
            if fix is not None:
                return fix
    return None


@call_rule("index_count", "too many indices for tensor of dimension")
def too_many(failed: FailedCall) -> Explanation | None:
    """More indices than the tensor has dimensions."""
    return of_first(failed, "index_count")


@call_rule("dim_range", "does not match the length of the desired ordering of dimensions")
def permute_dims(failed: FailedCall) -> Explanation | None:
    """`permute` with another number of dimensions."""
    need(failed.function == "permute")
    return of_first(failed, "dim_permute")


def of_first(failed: FailedCall, why: str) -> Explanation | None:
    """The explanation for the first operand and how many dimensions it has."""
    one = require(failed.first(lambda each: True))
    return failed.explain(why, name=one, dims=len(one.shape))


@call_rule("index_count", "invalid index of a 0-dim tensor|index on a 0-dim")
def no_dims(failed: FailedCall) -> Explanation | None:
    """An index into a scalar, or a loop over one."""
    one, node = require(failed.first(lambda each: not each.shape)), failed.node
    code = written_as(failed.case, node.value) if isinstance(node, ast.Subscript) else None
    fix = None if code is None else failed.instead(code)
    return failed.explain("index_scalar", fix, marks=failed.mark_shapes(one), name=one)


@call_rule("index_shapes", "indexing tensors could not be broadcast together with shapes {left}, {right}")
def index_shapes(failed: FailedCall, left: Shape, right: Shape) -> Explanation | None:
    """Index tensors of different lengths in one pair of brackets."""
    mine = [each for each in failed.operands[1:] if each.shape in (left, right)]
    need(len({each.shape for each in mine}) == 2)
    a, b = mine[0], next(each for each in mine if each.shape != mine[0].shape)
    fixes: list[Fix | None] = []
    for one, other in ((b, a), (a, b)):  # `torch.arange(4)` beside four indices
        node = failed.here(one.tree)
        if isinstance(node, ast.Call) and last_name(node) == "arange" and len(node.args) == 1:
            fixes.append(failed.rewrite({node.args[0]: str(other.shape[0])}))
    return failed.explain("index_pairs", *fixes, a=a, b=b)


@call_rule("index_shapes", "shape of the mask {mask} at index .* does not match .*indexed tensor {whole}")
def mask(failed: FailedCall, mask: Shape, whole: Shape) -> Explanation | None:
    """A mask of another shape than the tensor."""
    given = failed.operands
    mine = [each for each in given[1:] if each.shape == mask and each.dtype in ("bool", "uint8")]
    need(mine, given and given[0].shape[:1] == whole[:1])
    columns = len(mask) == 1 and len(whole) == 2 and whole[1] == mask[0]
    fix = failed.put(mine[0], f":, {mine[0].text}") if columns else None
    return failed.explain("index_mask", fix, name=given[0], mask=mine[0])


@call_rule("index_shapes", "Index tensor must have the same number of dimensions as")
def gather_dims(failed: FailedCall) -> Explanation | None:
    """The indices of gather have another number of dimensions."""
    need(failed.function in ("gather", "scatter", "scatter_", "scatter_add"), len(failed.operands) > 1)
    one, index = failed.operands[:2]
    fits = (len(one.shape), len(index.shape)) == (2, 1) and index.shape[0] == one.shape[0]
    fix = failed.behind(index, ".unsqueeze(1)") if fits else None
    return failed.explain("index_gather", fix, name=one, index=index)


# ── dimensions ────────────────────────────────────────────────────────────────────────────────────────────


@call_rule("dim_range", r"Dimension out of range .expected .* \[-?\d+, {last}\], but got {wrong}")
def no_such_dim(failed: FailedCall, last: int, wrong: int) -> Explanation | None:
    """A dimension that the tensor does not have."""
    need(failed.module is None)
    one = next((each for each in failed.operands[:1] if max(len(each.shape), 1) == last + 1), None)
    parts = [part for part in operands_in(failed.node) if ast.unparse(part) == str(wrong)]
    edits = {parts[-1]: str(last)} if parts and wrong > last else None
    return failed.explain("dim_range", failed.rewrite(edits, "dim_last_fix"), name=one)
