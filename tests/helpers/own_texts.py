"""Errors whose text is minigrad's own: one check stands where PyTorch has several, of the same class."""

from __future__ import annotations

import re

OWN = re.compile(
    "|".join(
        (
            r"Expected target size \[.*\], got \[",
            r"linalg\.\w+: Expected a floating point or complex tensor as input",
            r"[\w.]+: Low precision dtypes not supported",
            r"einsum\(\): (invalid subscripts|subscript \.\.\. has size) ",
            r"For (un)?batched (\(\d-D\) `query`, expected `\w+` to be|\d-D input, [hc]x should) ",
            r"RNN: Expected input to be 2D or 3D",
            r"as_strided: expected as many sizes",
            r"quantile\(\) (q values|input and q|interpolation) must be",
            r"result type \w+ can't be cast to the desired output type ",
            r"Expected out tensor to have dtype ",
            r"\w+\(\) received an invalid combination of arguments - got \(out=",
            r"(torch|LIBRARY)\.[if]info\(\) requires an? ",
            r"(torch|LIBRARY)\.meshgrid: Expected 0D or 1D tensors",
            r"Mismatch of parameter numbers and input channel size",
            r"The expanded size of the tensor",
            r"expand\(",
            r"expected \w+ to be a single integer value or a list of \d+ values",
            r"Expected key_padding_mask of shape ",
            r"Expected 2 to 3 dimensions, but got \d-dimensional tensor for argument #1 'self'",
            r"Given input size: .* Output size is too small",
            r"Given normalized_shape=.*expected input with shape \[\*, ",
            r"Got \d+D input, but \w+ mode needs ",
            r"Input Error: the modes are ",
            r"Input and \w+ must have the same number of spatial dimensions",
            r"'\w+' object cannot be interpreted as an integer",
            r"nn\.functional\.grid_sample\(\): expected \w*mode to be one of ",
            r"\w+ should be (non-negative|greater than zero), but got \[",
            r"Expected \dD or \dD \(batch mode\) tensor with possibly 0 batch size ",
            r"adaptive_\w+: output_size must be \d sizes",
            r"Given groups=\d+, expected weight to be divisible by ",
            r"output padding must be smaller than either stride or dilation, ",
            r"Expected columns of C · ",
            r"grid_sampler\(\): expected an input ",
            r"Input and output sizes should be greater than 0, ",
            r'"upsample_\w+" not implemented for ',
            r"pixel_\w+ expects sizes ",
            r"expected two different dims to rotate, ",
            r"index_add_\(\): expected source of the shape ",
            r"Expected index .* to be no larger than ",
            r"linalg\.vector_norm cannot compute the ",
            r"Expected both inputs to be Half, Float or Double tensors ",
            r"view_as_real doesn't work on unresolved conjugated tensors",
            r"Integer division with addcdiv is no longer supported",
            r"In-place \w+ backward calculation is triggered",
            r"The derivative of linalg\.qr\(",
            r"RNG state must be a (torch|LIBRARY)\.ByteTensor|Expected a CPUGeneratorImplState of size ",
            r"new\(\) received an invalid combination of arguments",
            r"expected a tensor of [\w.]+ \(got ",
            r"(torch|LIBRARY)\.\w+\(\): inferred dtype ",
            r"\w+ expects a real input tensor",
            r"can't alias .* into a tensor of dtype ",
            r"index_(add_|select)\(\): (Index is supposed to be a |Expected dtype int32 or |expected )",
            r"Index tensor must have the same number of dimensions as self tensor",
            r"shape '\[.*\]' is invalid for input of size 0",
            r"expected m1 and m2 to have the same dtype, ",
            r"AffineGridGenerator needs 4d ",
            r"pin_memory=True requires a CUDA or other accelerator backend",
            r"Given input of size .* calculated shape of the array of sliding blocks ",
            r"uniform_ expects from <= to and numbers of |from or to - 1 is out of bounds for ",
            r"probability tensor contains either |invalid multinomial distribution ",
            r"At least one stride in the given numpy array is negative, or ",
            r"\w+ only supports 0-dimensional start and end tensors, ",
            r"torch\.hist\w+: bins must be > 0 and min |minlength should be >= 0, ",
            r"`lengths` array must be sorted in decreasing order ",
            r"Argument alpha=\S* does not fit results of dtype ",
            r'"clamp_scalar_cpu" not implemented for ',
            r"linalg\.cholesky: The factorization could not be completed ",
            r"input image \[.* smaller than kernel size ",
            r"expected \w+ to be a single integer value ",
            r"\w+\(\) cannot be computed for the arguments \(",
            r"torch\.linalg\.lstsq: The input tensor A must have ",
        )
    )
)

CLASS = re.compile(r"(\w+Error: )?(.*)", re.DOTALL)


def same_or_own(ours: str, theirs: str) -> bool:
    """Whether two texts are the same, or the first is one of minigrad's own, after the same class."""
    (a, text), (b, _) = (CLASS.match(given).groups() for given in (ours, theirs))
    return ours == theirs or (a == b and OWN.match(text) is not None)


def same_error(ours: BaseException, theirs: BaseException) -> bool:
    """Whether two errors have the same class, and the same first line as far as it is PyTorch's."""
    texts = (str(error).split("\n")[0] for error in (ours, theirs))
    return type(ours).__name__ == type(theirs).__name__ and same_or_own(*texts)


def alike(ours: object, theirs: object) -> bool:
    """Whether what two programs noted is the same, item by item, but for texts that are minigrad's own."""
    if isinstance(ours, str) and isinstance(theirs, str):
        kind, _, text = ours.partition(": ")
        is_own = theirs.startswith(f"{kind}: ") and OWN.match(text) is not None
        return is_own or same_or_own(ours, theirs)
    if isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    return repr(ours) == repr(theirs)
