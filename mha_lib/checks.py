"""Checks of what callers pass in. Each error names the argument, what was required, what came, the way out.

Nothing here computes attention: skip this file when reading the library for the first time.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


def check_size(name: str, size: int, minimum: int = 1) -> None:
    """A count or a width."""
    if not isinstance(size, int | torch.SymInt) or isinstance(size, bool):
        raise TypeError(f"{name} must be an integer, got {size!r}")
    if size < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {size}")


def check_sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        check_size(name, size)


def check_divisible(num_hiddens: int, num_heads: int) -> None:
    if num_hiddens % num_heads:
        divisors = ", ".join(str(n) for n in range(1, num_hiddens + 1) if num_hiddens % n == 0)
        raise ValueError(
            f"num_hiddens={num_hiddens} must be divisible by num_heads={num_heads}; divisors: {divisors}; "
            "or choose the width of a head yourself with head_dim"
        )


def check_even(name: str, size: int) -> None:
    if size % 2:
        raise ValueError(
            f"{name} must be even, a sine and a cosine for each pair, got {size}; try {size + 1}"
        )


def check_splittable(x: Tensor, num_heads: int) -> None:
    check_tensor("x", x)
    check_size("num_heads", num_heads)
    if x.dim() != 3:
        raise ValueError(f"x must be (B, N, H*d), got shape {tuple(x.shape)}")
    if x.shape[2] % num_heads:
        raise ValueError(f"the width of x, {x.shape[2]}, must be divisible by num_heads={num_heads}")


def check_mergeable(x: Tensor) -> None:
    check_tensor("x", x)
    if x.dim() != 4:
        raise ValueError(f"x must be (B, H, N, d), got shape {tuple(x.shape)}; split_heads makes such")


def check_dropout(name: str, probability: float) -> None:
    if isinstance(probability, bool) or not isinstance(probability, int | float):
        raise TypeError(f"{name} must be a number from 0 to 1, got {probability!r}")
    if not 0 <= probability <= 1:  # false for NaN as well
        raise ValueError(f"{name} must be a probability from 0 to 1, got {probability}")


def check_tensor(name: str, x: Tensor) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(x).__name__}; try torch.as_tensor({name})")


def check_floating(name: str, x: Tensor) -> None:
    check_tensor(name, x)
    if not x.is_floating_point():
        raise TypeError(f"{name} must hold floating-point numbers, got {x.dtype}; try {name}.float()")


def check_device(name: str, x: Tensor, device: torch.device) -> None:
    if x.device != device:
        raise ValueError(
            f"{name} must be on {device}, with what it applies to, got {x.device}; "
            f"try {name}.to({str(device)!r})"
        )


def check_together(name: str, x: Tensor, other_name: str, other: Tensor) -> None:
    """Two tensors that meet in one product: one device, one dtype (autocast sees to the dtype itself)."""
    if x.device != other.device:
        raise ValueError(
            f"{name} must be on the device of {other_name}, {other.device}, got {x.device}; "
            f"move one of them with .to({str(other.device)!r})"
        )
    if x.dtype != other.dtype and not torch.is_autocast_enabled(x.device.type):
        raise TypeError(
            f"{name} must have the dtype of {other_name}, {other.dtype}, got {x.dtype}; "
            f"convert one of them with .to({other.dtype}), or run under torch.autocast"
        )


def check_queries_keys_values(queries: Tensor, keys: Tensor, values: Tensor) -> None:
    """What attention itself asks: the same leading axes, as many values as keys, one device, one dtype."""
    for name, x in (("queries", queries), ("keys", keys), ("values", values)):
        check_floating(name, x)
        if not 2 <= x.dim() <= 4 or x.dim() != queries.dim():
            raise ValueError(
                f"queries, keys and values must all be (N, d), (B, N, d) or (B, H, N, d), "
                f"got {name} of shape {tuple(x.shape)} with queries of shape {tuple(queries.shape)}"
            )
        if x.shape[:-2] != queries.shape[:-2]:
            axes = "batch" if x.dim() == 3 else "batch and heads"
            raise ValueError(
                f"{name} must agree with queries in {axes}, {tuple(queries.shape[:-2])}, got shape "
                f"{tuple(x.shape)}; {name}.expand repeats a single sample without copying it"
            )
        check_together(name, x, "queries", queries)
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError(
            f"values must be as many as keys, {keys.shape[-2]}, got {values.shape[-2]}; each key has one"
        )


def check_scores(scores: Tensor) -> None:
    check_floating("scores", scores)
    if not 2 <= scores.dim() <= 4:
        raise ValueError(f"scores must be (Q, K), (B, Q, K) or (B, H, Q, K), got shape {tuple(scores.shape)}")


def check_same_width(queries: Tensor, keys: Tensor) -> None:
    if keys.shape[-1] != queries.shape[-1]:
        raise ValueError(
            f"keys must be as wide as queries for a dot product, {queries.shape[-1]}, got {keys.shape[-1]}; "
            "project both to one width, or use AdditiveAttention"
        )


def check_tokens(**inputs: tuple[Tensor, nn.Linear, str]) -> None:
    """Each is (input, its projection, the argument that set the width): the input must be (B, N, width)."""
    for name, (x, projection, argument) in inputs.items():
        width = projection.in_features
        check_floating(name, x)
        if x.dim() != 3:
            way_out = f"; for a single sample: {name}[None]" if x.dim() == 2 else ""
            raise ValueError(f"{name} must be (B, N, {width}), got shape {tuple(x.shape)}{way_out}")
        if x.shape[2] != width:
            raise ValueError(
                f"{name} must be (B, N, {width}), got shape {tuple(x.shape)}; "
                f"for such {name} build the layer with {argument}={x.shape[2]}"
            )
        check_together(name, x, "the layer", projection.weight)


def checked_lens(
    valid_lens: Tensor, num_keys: int, batch: int | None = None, num_queries: int | None = None
) -> Tensor:
    """The same lengths, on the CPU: for lengths on a GPU this is the one wait for it.

    While torch.compile traces, there are no numbers to look at: the lengths stay where they are, unchecked.
    """
    if not isinstance(valid_lens, Tensor):
        raise TypeError(
            f"valid_lens must be a tensor of integers, got {type(valid_lens).__name__}; "
            "try torch.tensor(valid_lens)"
        )
    if valid_lens.is_floating_point() or valid_lens.is_complex() or valid_lens.dtype == torch.bool:
        way_out = "a mask goes into mask=" if valid_lens.dtype == torch.bool else "try valid_lens.long()"
        raise TypeError(f"valid_lens must hold integers, got {valid_lens.dtype}; {way_out}")
    if valid_lens.dim() not in (1, 2):
        raise ValueError(
            f"valid_lens must be (B,), a length for each sample, or (B, Q), one for each query; "
            f"got shape {tuple(valid_lens.shape)}"
        )
    if batch is not None and tuple(valid_lens.shape) not in ((batch,), (batch, num_queries)):
        raise ValueError(
            f"valid_lens must be (B,) = ({batch},) or (B, Q) = ({batch}, {num_queries}), "
            f"got shape {tuple(valid_lens.shape)}; (B,): a length for each sample, (B, Q): one for each query"
        )
    if torch.compiler.is_compiling():
        return valid_lens
    lengths = valid_lens.detach().cpu().long()
    if lengths.numel():
        shortest, longest = (int(length) for length in lengths.aminmax())
        if shortest < 0 or longest > num_keys:
            raise ValueError(
                f"valid_lens must lie from 0 to the number of keys, {num_keys}, "
                f"got {shortest} to {longest}; try valid_lens.clamp(0, {num_keys})"
            )
    return lengths


def check_mask(mask: Tensor, scores_shape: Sequence[int], device: torch.device) -> None:
    """A boolean mask where the scores are, its axes theirs or 1."""
    if not isinstance(mask, Tensor):
        raise TypeError(f"mask must be a boolean tensor (True = may attend), got {type(mask).__name__}")
    if mask.dtype != torch.bool:
        way_out = "for a mask of 0 and 1: mask.bool()"
        if not mask.is_floating_point() and mask.dim() < 3:
            way_out = "for lengths: padding_mask(valid_lens, num_keys), or valid_lens= of a layer"
        raise TypeError(f"mask must be boolean (True = may attend), got {mask.dtype}; {way_out}")
    names = {2: "QK", 3: "BQK", 4: "BHQK"}
    sizes = dict(zip(names[len(scores_shape)], scores_shape, strict=True))
    axes = names.get(mask.dim(), "")
    fits = (
        2 <= mask.dim() <= len(scores_shape)
        and mask.shape[-1] == sizes["K"]
        and all(n in (1, sizes[axis]) for axis, n in zip(axes, mask.shape, strict=True))
    )
    if not fits:
        allowed = [names[rank] for rank in range(2, len(scores_shape) + 1)]
        allowed_text = " or ".join(
            "({}) = ({})".format(", ".join(axes), ", ".join(str(sizes[a]) for a in axes)) for axes in allowed
        )
        is_padding = len(scores_shape) > 2 and mask.shape == (sizes["B"], sizes["K"])
        way_out = "; for a mask (B, K): mask[:, None]" if is_padding else ""
        raise ValueError(
            f"mask must be {allowed_text}, any axis but K may be 1, got shape {tuple(mask.shape)}{way_out}"
        )
    check_device("mask", mask, device)


def check_causal(num_queries: int, num_keys: int) -> None:
    if num_queries > num_keys:
        raise ValueError(
            f"a causal mask (is_causal) needs num_queries <= num_keys, got {num_queries} > {num_keys}: "
            "it is aligned at the end, so the first queries would see nothing; pass a mask of your own"
        )


def check_head_mask(head_mask: Tensor, batch: int, num_heads: int, device: torch.device) -> None:
    if not isinstance(head_mask, Tensor):
        raise TypeError(
            f"head_mask must be a tensor, got {type(head_mask).__name__}; try torch.tensor(head_mask)"
        )
    if tuple(head_mask.shape) not in ((num_heads,), (batch, num_heads)):
        raise ValueError(
            f"head_mask must be (H,) = ({num_heads},) or (B, H) = ({batch}, {num_heads}), "
            f"got shape {tuple(head_mask.shape)}"
        )
    check_device("head_mask", head_mask, device)


def check_torch_module(module: nn.MultiheadAttention) -> None:
    if not isinstance(module, nn.MultiheadAttention):
        raise TypeError(f"module must be an nn.MultiheadAttention, got {type(module).__name__}")
    for option, used in (("add_bias_kv", module.bias_k is not None), ("add_zero_attn", module.add_zero_attn)):
        if used:
            raise ValueError(
                f"module must be built without {option}, got {option}=True, which adds a key of its own; "
                "append it to keys and values yourself"
            )
