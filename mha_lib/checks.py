"""Checks of what callers pass in. Each error names the argument, what was required, what came, the way out.

Nothing here computes attention: skip this file when reading the library for the first time.
"""

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import get_proxy_mode

if TYPE_CHECKING:
    from mha_lib.multihead import KVCache, MultiHeadAttention


def is_transformed(x: Tensor) -> bool:
    """Whether ``x`` stands for something else inside ``torch.func``'s vmap, grad or jvp."""
    return not torch.compiler.is_compiling() and torch._C._functorch.is_functorch_wrapped_tensor(x)


def can_be_read(x: Tensor) -> bool:
    """Whether the numbers in ``x`` can be looked at.

    They cannot on the meta device, and not while torch.compile, ``make_fx``, ``FakeTensorMode`` or ``vmap``
    trace.
    """
    return not (
        torch.compiler.is_compiling()
        or x.is_meta
        or isinstance(x, FakeTensor)
        or torch._guards.active_fake_mode() is not None
        or get_proxy_mode() is not None
        or is_transformed(x)
    )


def nobody_differentiates(x: Tensor) -> bool:
    """Whether ``x`` may be overwritten: no gradient, in any of PyTorch's ways, will be taken through it."""
    return not (
        torch.compiler.is_compiling()
        or (x.requires_grad and torch.is_grad_enabled())
        or is_transformed(x)
        or forward_ad.unpack_dual(x).tangent is not None
    )


def checked_size(name: str, size: int, minimum: int = 1) -> int:
    """A count or a width, as Python's ``int`` (or as the symbol that stands for one while PyTorch traces)."""
    is_int = isinstance(size, (int, torch.SymInt))
    if isinstance(size, (bool, Tensor)) or not (is_int or hasattr(size, "__index__")):
        raise TypeError(f"{name} must be an integer, got {size!r}; try int({name})")
    if size < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {size}")
    return size if is_int else operator.index(size)


def check_divisible(num_hiddens: int, num_heads: int) -> None:
    if num_hiddens % num_heads:
        divisors = ", ".join(str(n) for n in range(1, num_hiddens + 1) if num_hiddens % n == 0)
        raise ValueError(
            f"num_hiddens={num_hiddens} must be divisible by num_heads={num_heads}; divisors: {divisors}; "
            "or choose the width of a head yourself with head_dim"
        )


def check_kv_heads(num_heads: int, num_kv_heads: int) -> None:
    if num_heads % num_kv_heads:
        divisors = ", ".join(str(n) for n in range(1, num_heads + 1) if num_heads % n == 0)
        raise ValueError(
            f"num_heads={num_heads} must be divisible by num_kv_heads={num_kv_heads}, for all "
            f"key-value heads are shared by as many heads; divisors: {divisors}"
        )


def check_even(name: str, size: int) -> None:
    if size % 2:
        raise ValueError(f"{name} must be even, since its columns form pairs, got {size}; try {size + 1}")


def check_splittable(x: Tensor, num_heads: int) -> None:
    check_tensor("x", x)
    checked_size("num_heads", num_heads)
    if x.dim() != 3:
        raise ValueError(f"x must be (B, N, H*d), got shape {tuple(x.shape)}")
    if x.shape[2] % num_heads:
        raise ValueError(
            f"the width of x must be divisible by num_heads={num_heads}, got {x.shape[2]}; "
            "project x to a multiple of num_heads"
        )


def check_mergeable(x: Tensor) -> None:
    check_tensor("x", x)
    if x.dim() != 4:
        raise ValueError(f"x must be (B, H, N, d), got shape {tuple(x.shape)}; split_heads makes such")


def check_dropout(name: str, probability: float) -> None:
    if isinstance(probability, bool) or not isinstance(probability, (int, float)):
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


def autocasts(device: torch.device) -> bool:
    return torch.amp.is_autocast_available(device.type) and torch.is_autocast_enabled(device.type)


def check_together(name: str, x: Tensor, other_name: str, other: Tensor) -> None:
    """Two tensors that meet in one product: one device, one dtype (autocast sees to the dtype itself)."""
    if x.device != other.device:
        raise ValueError(
            f"{name} must be on the device of {other_name}, {other.device}, got {x.device}; "
            f"move one of them with .to({str(other.device)!r})"
        )
    if x.dtype != other.dtype and not autocasts(x.device):
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


def check_tokens(name: str, x: Tensor, width: int, argument: str, projection: nn.Module) -> None:
    """An input ``(B, N, width)`` for its projection; ``argument`` is what set the width of the layer."""
    check_floating(name, x)
    if x.dim() != 3:
        way_out = f"; for a single sample: {name}[None]" if x.dim() == 2 else ""
        raise ValueError(f"{name} must be (B, N, {width}), got shape {tuple(x.shape)}{way_out}")
    if x.shape[2] != width:
        raise ValueError(
            f"{name} must be (B, N, {width}), got shape {tuple(x.shape)}; "
            f"for such {name} build the layer with {argument}={x.shape[2]}"
        )
    # A projection may have been replaced (quantized, wrapped) or offloaded to the meta device: then it knows
    # itself which inputs it takes.
    if type(projection) is nn.Linear and not projection.weight.is_meta:
        check_together(name, x, "the layer", projection.weight)


def checked_lens(
    valid_lens: Tensor, num_keys: int, batch: int | None = None, num_queries: int | None = None
) -> Tensor:
    """The same lengths, on the CPU: for lengths on a GPU this is the one wait for it.

    Lengths whose values cannot be read stay where they are, and their values are not checked.
    """
    if not isinstance(valid_lens, Tensor):
        raise TypeError(
            f"valid_lens must be a tensor of integers, got {type(valid_lens).__name__}; "
            "try torch.tensor(valid_lens)"
        )
    if valid_lens.dtype == torch.bool:
        raise TypeError(
            "valid_lens must hold integers, got torch.bool; "
            "a mask (B, K) goes into key_mask=, others into mask="
        )
    if valid_lens.is_floating_point() or valid_lens.is_complex():
        real = ".real" if valid_lens.is_complex() else ""
        raise TypeError(f"valid_lens must hold integers, got {valid_lens.dtype}; try valid_lens{real}.long()")
    if valid_lens.dim() not in (1, 2):
        raise ValueError(
            f"valid_lens must be (B,), a length for each sample, or (B, Q), one for each query, "
            f"got shape {tuple(valid_lens.shape)}"
        )
    if batch is not None and tuple(valid_lens.shape) not in ((batch,), (batch, num_queries)):
        raise ValueError(
            f"valid_lens must be (B,) = ({batch},) or (B, Q) = ({batch}, {num_queries}), "
            f"got shape {tuple(valid_lens.shape)}; (B,): a length for each sample, (B, Q): one for each query"
        )
    if not can_be_read(valid_lens):
        return valid_lens
    lengths = valid_lens.detach().cpu().long()
    if lengths.numel():
        shortest, longest = (int(length) for length in lengths.aminmax())
        if shortest < 0 or longest > num_keys:
            raise ValueError(
                f"valid_lens must lie from 0 to the number of keys, {num_keys}, "
                f"got {shortest} to {longest}; try valid_lens.clamp(0, {num_keys})"
            )
        if longest <= 1 and num_keys > 1 and lengths.dim() == 2 and lengths.shape[1] == num_keys:
            raise ValueError(
                f"valid_lens must hold lengths, got {tuple(valid_lens.shape)} numbers that are all 0 or 1, "
                "like a mask (B, K); try key_mask=valid_lens.bool() if 1 = may attend; "
                f"if they are lengths, try mask=torch.arange({num_keys}) < valid_lens[..., None]"
            )
    return lengths


def check_mask(mask: Tensor, scores_shape: Sequence[int], device: torch.device) -> None:
    """A boolean mask where the scores are, its axes theirs or 1."""
    if not isinstance(mask, Tensor):
        raise TypeError(f"mask must be a boolean tensor (True = may attend), got {type(mask).__name__}")
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean (True = may attend), got {mask.dtype}; "
            + way_to_boolean(mask, scores_shape)
        )
    check_fits_scores("mask", mask, scores_shape)
    check_device("mask", mask, device)


def way_to_boolean(mask: Tensor, scores_shape: Sequence[int]) -> str:
    """What the caller of a mask that is not boolean most likely meant, by the numbers in it."""
    if mask.dim() == 1:
        return (
            "lengths become a mask by padding_mask(valid_lens, num_keys), or go into valid_lens= of a layer"
        )
    if not can_be_read(mask) or mask.is_complex() or not mask.numel():
        return "True where a query may attend to a key: mask == 0 or mask != 0, as the mask is meant"
    if not ((mask == 0) | (mask == 1)).all():
        if mask.is_floating_point() and ((mask == 0) | (mask < -1000)).all():
            return "in this one 0 = may attend, and −∞ = may not: try mask == 0"
        if mask.is_floating_point():
            return "numbers to be added to the scores go into score_bias="
        return (
            "lengths become a mask by padding_mask(valid_lens, num_keys), or go into valid_lens= of a layer"
        )
    if not mask.any():
        return "all zeros: try mask == 0 if 0 = may attend, mask.bool() if 1 = may attend"
    if len(scores_shape) > 2 and mask.shape == (scores_shape[0], scores_shape[-1]) != scores_shape[-2:]:
        return "if 1 = may attend, try mask.bool() as key_mask= of a layer, since its axes are (B, K)"
    return "if 1 = may attend, try mask.bool(); if 1 = ignore, try mask == 0"


def check_fits_scores(name: str, x: Tensor, scores_shape: Sequence[int]) -> None:
    """Two, three or four axes, each but that of the keys theirs or 1."""
    names = {2: "QK", 3: "BQK", 4: "BHQK"}
    sizes = dict(zip(names[len(scores_shape)], scores_shape, strict=True))
    axes = names.get(x.dim(), "")
    fits = (
        2 <= x.dim() <= len(scores_shape)
        and x.shape[-1] == sizes["K"]
        and all(n in (1, sizes[axis]) for axis, n in zip(axes, x.shape, strict=True))
    )
    if not fits:
        allowed = [names[rank] for rank in range(2, len(scores_shape) + 1)]
        allowed_text = " or ".join(
            "({}) = ({})".format(", ".join(axes), ", ".join(str(sizes[a]) for a in axes)) for axes in allowed
        )
        way_out = ""
        if len(scores_shape) > 2 and x.shape == (sizes["B"], sizes["K"]):
            way_out = f"; for (B, K): {name}[:, None]" + (
                ", or key_mask= of a layer" if name == "mask" else ""
            )
        elif len(scores_shape) == 4 and x.shape == tuple(sizes[axis] for axis in "HQK"):
            way_out = f"; for (H, Q, K), one for each head: {name}[None]"
        raise ValueError(
            f"{name} must be {allowed_text}, any axis but K may be 1, got shape {tuple(x.shape)}{way_out}"
        )


def check_score_bias(score_bias: Tensor, scores_shape: Sequence[int], device: torch.device) -> None:
    if isinstance(score_bias, Tensor) and score_bias.dtype == torch.bool:
        raise TypeError("score_bias must hold floating-point numbers, got torch.bool; a mask goes into mask=")
    check_floating("score_bias", score_bias)
    check_fits_scores("score_bias", score_bias, scores_shape)
    check_device("score_bias", score_bias, device)


def check_key_mask(key_mask: Tensor, batch: int, num_keys: int, device: torch.device) -> None:
    if not isinstance(key_mask, Tensor):
        raise TypeError(
            f"key_mask must be a boolean tensor (True = may attend), got {type(key_mask).__name__}"
        )
    if key_mask.dtype != torch.bool:
        raise TypeError(
            f"key_mask must be boolean (True = may attend), got {key_mask.dtype}; "
            "if 1 = may attend, try key_mask.bool(); if 0 = may attend, try key_mask == 0"
        )
    if tuple(key_mask.shape) != (batch, num_keys):
        raise ValueError(
            f"key_mask must be (B, K) = ({batch}, {num_keys}), got shape {tuple(key_mask.shape)}; "
            "a mask with another shape goes into mask="
        )
    check_device("key_mask", key_mask, device)


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
            f"got shape {tuple(head_mask.shape)}; 1 keeps a head, 0 silences it"
        )
    check_device("head_mask", head_mask, device)


def check_positions(x: Tensor, positions: Tensor) -> None:
    check_floating("x", x)
    check_tensor("positions", positions)
    if x.dim() < 2:
        raise ValueError(f"x must be (..., N, d), got shape {tuple(x.shape)}; for a single token: x[None]")
    check_even("the width of x", x.shape[-1])
    if positions.shape != x.shape[-2:-1]:
        raise ValueError(
            f"positions must be (N,) = ({x.shape[-2]},), got shape {tuple(positions.shape)}; "
            "try torch.arange(x.shape[-2])"
        )
    check_device("positions", positions, x.device)


def check_rotary(num_queries: int, num_new_keys: int, num_keys: int, has_cache: bool) -> None:
    if has_cache and num_new_keys != num_queries:
        raise ValueError(
            "with rotary=True and a cache, keys must be as many as queries, whose positions they give, "
            f"got {num_new_keys} keys for {num_queries} queries; leave out keys (self-attention), "
            "or build the layer without rotary"
        )
    if num_queries > num_keys:
        raise ValueError(
            f"with rotary=True, num_queries must be at most num_keys, got {num_queries} > {num_keys}: the "
            "queries stand at the last positions of the keys; build the layer without rotary"
        )


def check_torch_module(module: nn.MultiheadAttention) -> None:
    if not isinstance(module, nn.MultiheadAttention):
        raise TypeError(f"module must be an nn.MultiheadAttention, got {type(module).__name__}")
    if type(module).forward is not nn.MultiheadAttention.forward:
        raise TypeError(
            "module must compute what nn.MultiheadAttention does, "
            f"got {type(module).__name__} with a forward of its own; "
            "copy its weights into an nn.MultiheadAttention first"
        )
    if type(module.out_proj).forward is not nn.Linear.forward:
        raise TypeError(
            f"the out_proj of module must be an nn.Linear, got {type(module.out_proj).__name__}; "
            "undo the quantization or the wrapper first"
        )
    for option, used in (("add_bias_kv", module.bias_k is not None), ("add_zero_attn", module.add_zero_attn)):
        if used:
            raise ValueError(
                f"module must be built without {option}, got {option}=True, which adds a key of its own; "
                "append it to keys and values yourself"
            )


def check_poolable(
    layer: "MultiHeadAttention", expected: "type[MultiHeadAttention]", num_kv_heads: int
) -> None:
    """A layer whose key-value heads are to be pooled into ``num_kv_heads``."""
    if not isinstance(layer, expected):
        raise TypeError(
            f"layer must be a {expected.__name__}, got {type(layer).__name__}; "
            f"{expected.__name__}.from_torch makes one of an nn.MultiheadAttention"
        )
    for name in ("W_k", "W_v"):
        check_plain_projection(layer, name)
    if layer.num_kv_heads % num_kv_heads:
        divisors = ", ".join(str(n) for n in range(1, layer.num_kv_heads + 1) if layer.num_kv_heads % n == 0)
        raise ValueError(
            f"num_kv_heads must divide the number of key-value heads of the layer, {layer.num_kv_heads}, "
            f"got {num_kv_heads}; divisors: {divisors}"
        )


def check_plain_projection(layer: nn.Module, name: str) -> None:
    projection = getattr(layer, name)
    if type(projection) is not nn.Linear:
        raise TypeError(
            f"{name} of the layer must be an nn.Linear, got {type(projection).__name__}; "
            "undo the quantization or the wrapper first"
        )


def check_cache(
    cache: "KVCache", expected: "type[KVCache]", layer: nn.Module, batch: int, num_new_keys: int
) -> None:
    """A ``KVCache`` that was made for this layer and this batch, with room for the new keys."""
    if not isinstance(cache, expected):
        raise TypeError(
            f"cache must be a KVCache, got {type(cache).__name__}; try KVCache(layer, batch, max_tokens)"
        )
    if cache.layer is not layer:
        raise ValueError(
            "cache must have been made for this layer, got the cache of another one; "
            "every layer needs its own: KVCache(layer, batch, max_tokens)"
        )
    if cache.batch != batch:
        raise ValueError(
            f"cache must be of the batch of queries, {batch}, got a cache for {cache.batch}; "
            f"try KVCache(layer, {batch}, {cache.max_tokens})"
        )
    if len(cache) + num_new_keys > cache.max_tokens:
        raise ValueError(
            f"cache must have room for {len(cache)} + {num_new_keys} tokens, "
            f"got max_tokens={cache.max_tokens}; "
            "call cache.reset() for a new sequence, or make a larger KVCache"
        )


def check_cacheable(keys: Tensor, values: Tensor, held: Tensor | None) -> None:
    """Projected keys and values for a cache that holds such as ``held`` already (None: it is empty)."""
    if torch.is_grad_enabled() and (keys.requires_grad or values.requires_grad):
        raise RuntimeError(
            "cache holds keys and values without their gradients, got some that require gradients; "
            "call the layer under torch.no_grad(), or without a cache"
        )
    if is_transformed(keys):
        raise RuntimeError(
            "cache must be used outside torch.func.vmap, grad and jvp, got a call inside one of them; "
            "call the layer without a cache there"
        )
    if held is not None and (keys.dtype != held.dtype or keys.device != held.device):
        raise ValueError(
            f"cache must go on with what it holds, {held.dtype} on {held.device}, got {keys.dtype} on "
            f"{keys.device}; call cache.reset() first"
        )


def check_sharding(layer: object, layer_class: type, mesh: Any, mesh_class: Any) -> None:
    if not isinstance(layer, layer_class):
        raise TypeError(f"layer must be a {layer_class.__name__}, got {type(layer).__name__}")
    if not isinstance(mesh, mesh_class):
        raise TypeError(
            f"mesh must be a {mesh_class.__name__}, got {type(mesh).__name__}; "
            "torch.distributed.device_mesh.init_device_mesh makes one"
        )
    devices = mesh.size()
    if mesh.ndim != 1:
        raise ValueError(f"mesh must have one axis, got {mesh.ndim}; take one of its axes: mesh['name']")
    for name in ("num_heads", "num_kv_heads"):
        heads = getattr(layer, name)
        if heads % devices:
            raise ValueError(f"{name}={heads} must be divisible by the {devices} devices of mesh")
