"""Check what callers pass in. Each error names the argument, what was required, what came and the way out.

Checks that need to know a class of this library stand beside that class.
Nothing here computes attention: skip this file when reading the library for the first time.
"""

import math
import operator
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.fx import Proxy

from mha_lib.tracing import autocasts, can_be_read


def check_class(name: str, value: object, expected: type, way_out: str) -> None:
    if not isinstance(value, expected):
        kind = expected.__name__
        article = "an" if kind[0] in "AEIOU" else "a"
        raise TypeError(f"{name} must be {article} {kind}, got {type(value).__name__}; {way_out}")


def checked_size(name: str, size: int, minimum: int = 1) -> int:
    """Return a count or a width as Python's ``int``, or as PyTorch's symbol for one while it traces."""
    is_int = isinstance(size, (int, torch.SymInt))
    if isinstance(size, (bool, Tensor)) or not (is_int or hasattr(size, "__index__")):
        raise TypeError(f"{name} must be an integer, got {size!r}; try int({name})")
    if size < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {size}")
    return size if is_int else operator.index(size)


def check_positive(name: str, value: float, wanted: str = "a number above 0") -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be {wanted}, got {value!r}")
    if not 0 < value < math.inf:  # false for NaN as well
        raise ValueError(f"{name} must be {wanted}, got {value}")


def check_flag(name: str, value: bool, way_out: str = "") -> None:
    if not isinstance(value, bool):
        came = type(value).__name__ if isinstance(value, Tensor) else repr(value)
        raise TypeError(f"{name} must be True or False, got {came}" + (way_out and f"; {way_out}"))


def divisors_of(number: int) -> str:
    return "divisors: " + ", ".join(str(n) for n in range(1, number + 1) if number % n == 0)


def check_divisible(num_hiddens: int, num_heads: int) -> None:
    if num_hiddens % num_heads:
        raise ValueError(
            f"num_hiddens={num_hiddens} must be divisible by num_heads={num_heads}; "
            f"{divisors_of(num_hiddens)}; or choose the width of a head yourself with head_dim"
        )


def check_kv_heads(num_heads: int, num_kv_heads: int) -> None:
    if num_heads % num_kv_heads:
        raise ValueError(
            f"num_heads={num_heads} must be divisible by num_kv_heads={num_kv_heads}, since each "
            f"key-value head is shared by the same number of heads; {divisors_of(num_heads)}"
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
        raise ValueError(f"x must be (B, H, N, d), got shape {tuple(x.shape)}; split_heads makes one")


def check_dropout(name: str, probability: float) -> None:
    if isinstance(probability, bool) or not isinstance(probability, (int, float)):
        raise TypeError(f"{name} must be a number from 0 to 1, got {probability!r}")
    if not 0 <= probability <= 1:  # false for NaN as well
        raise ValueError(f"{name} must be a probability from 0 to 1, got {probability}")


def check_tensor(name: str, x: Tensor) -> None:
    if torch.jit.is_tracing():
        raise TypeError(
            "a layer must not be traced by torch.jit, which would keep the lengths and the ways of this one "
            f"call, got a trace with {name}; try torch.compile, or torch.export without a cache"
        )
    if isinstance(x, Proxy):
        raise TypeError(
            f"{name} must be a tensor, got a Proxy of torch.fx, which cannot look into these layers; make "
            "each a leaf by the is_leaf_module of your torch.fx.Tracer, or try torch.export"
        )
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(x).__name__}; try torch.as_tensor({name})")
    if x.is_nested:
        raise TypeError(
            f"{name} must be a plain tensor, got a nested one; try {name}.to_padded_tensor(0.0), with the "
            "length of each sample as valid_lens"
        )


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
    """Two tensors of one product need one device and one dtype; autocast converts the dtype by itself."""
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
    """Attention needs the same leading axes, as many values as keys, one device and one dtype."""
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
        way_out = "; for one row: scores[None]" if scores.dim() == 1 else ""
        raise ValueError(
            f"scores must be (Q, K), (B, Q, K) or (B, H, Q, K), got shape {tuple(scores.shape)}{way_out}"
        )


def check_same_width(queries: Tensor, keys: Tensor) -> None:
    if keys.shape[-1] != queries.shape[-1]:
        raise ValueError(
            f"keys must be as wide as queries for a dot product, {queries.shape[-1]}, got {keys.shape[-1]}; "
            "project both to one width, or use AdditiveAttention"
        )


def check_tokens(name: str, x: Tensor, width: int, argument: str, projection: nn.Module) -> None:
    """Check an input ``(B, N, width)`` of a projection; ``argument`` of the layer has set the width."""
    check_floating(name, x)
    if x.dim() != 3:
        way_out = f"; for a single sample: {name}[None]" if x.dim() == 2 else ""
        raise ValueError(f"{name} must be (B, N, {width}), got shape {tuple(x.shape)}{way_out}")
    if x.shape[2] != width:
        raise ValueError(
            f"{name} must be (B, N, {width}), got shape {tuple(x.shape)}; "
            f"for such {name} build the layer with {argument}={x.shape[2]}"
        )
    # A projection may have been replaced (quantized, wrapped) or offloaded to the meta device. Only such a
    # projection itself knows which inputs it takes.
    if type(projection) is nn.Linear and not projection.weight.is_meta:
        check_together(name, x, "the layer", projection.weight)


def checked_lens(
    valid_lens: Tensor,
    num_keys: int,
    batch: int | None = None,
    num_queries: int | None = None,
    num_heads: int = 1,
    num_lost: int = 0,
) -> tuple[Tensor, int, int | None]:
    """Return the lengths on the CPU, the shortest and the longest. This is the only time we wait for a GPU.

    Lengths whose values cannot be read stay where they are, unchecked: the shortest is 0, the longest None.
    """
    check_tensor("valid_lens", valid_lens)
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
        way_out = "(B,): a length for each sample, (B, Q): one for each query"
        if valid_lens.shape[0] == batch * num_heads:
            way_out = f"one for each head (B*H, ...): try valid_lens[::{num_heads}]"
        raise ValueError(
            f"valid_lens must be (B,) = ({batch},) or (B, Q) = ({batch}, {num_queries}), "
            f"got shape {tuple(valid_lens.shape)}; {way_out}"
        )
    if not can_be_read(valid_lens):
        return valid_lens, 0, None
    lengths = valid_lens.detach().cpu().long()
    if not lengths.numel():
        return lengths, 0, None
    shortest, longest = (int(length) for length in lengths.aminmax())
    if shortest < 0 or longest > num_keys:
        way_out = f"valid_lens.clamp(0, {num_keys})"
        if num_lost:
            way_out = (
                f"(valid_lens - {num_lost}).clamp(0), since the cache has let go the first {num_lost} keys"
            )
        raise ValueError(
            f"valid_lens must lie from 0 to the number of keys, {num_keys}, "
            f"got {shortest} to {longest}; try {way_out}"
        )
    if longest <= 1 and num_keys > 1 and lengths.dim() == 2 and lengths.shape[1] == num_keys:
        raise ValueError(
            f"valid_lens must hold lengths, got {tuple(valid_lens.shape)} numbers that are all 0 or 1, "
            "like a mask (B, K); try key_mask=valid_lens.bool() if 1 = may attend; "
            f"if they are lengths, try mask=torch.arange({num_keys}) < valid_lens[..., None]"
        )
    return lengths, shortest, longest


def check_mask(mask: Tensor, scores_shape: Sequence[int], device: torch.device) -> None:
    """The mask must be boolean, fit the scores and be on their device."""
    check_boolean("mask", mask, lambda: way_to_boolean(mask, scores_shape))
    check_fits_scores("mask", mask, scores_shape)
    check_device("mask", mask, device)


MASKS_OF_PYTORCH = {
    "CausalBias": "is_causal=True of a layer",
    "BlockMask": "create_mask(mask_mod, B, H, Q, K) of flex_attention",
}


def check_boolean(name: str, mask: Tensor, way_out: Callable[[], str]) -> None:
    if other := MASKS_OF_PYTORCH.get(type(mask).__name__):
        raise TypeError(f"{name} must be a boolean tensor, got a {type(mask).__name__}; try {other}")
    check_tensor(name, mask)
    if mask.dtype != torch.bool:
        raise TypeError(f"{name} must be boolean (True = may attend), got {mask.dtype}; {way_out()}")


def way_to_boolean(mask: Tensor, scores_shape: Sequence[int]) -> str:
    """Guess from the numbers in a mask that is not boolean what the caller meant."""
    lengths = "lengths become a mask by padding_mask(valid_lens, num_keys), or go into valid_lens= of a layer"
    if mask.dim() == 1:
        return lengths
    if not can_be_read(mask) or mask.is_complex() or not mask.numel():
        return "True where a query may attend to a key: mask == 0 or mask != 0, as the mask is meant"
    if not ((mask == 0) | (mask == 1)).all():
        if mask.is_floating_point() and ((mask == 0) | (mask < -1000)).all():
            return "in this one 0 = may attend, and −∞ = may not: try mask == 0"
        if mask.is_floating_point():
            return "numbers to be added to the scores go into score_bias="
        return lengths
    if not mask.any():
        return "all zeros: try mask == 0 if 0 = may attend, mask.bool() if 1 = may attend"
    if len(scores_shape) > 2 and mask.shape == (scores_shape[0], scores_shape[-1]) != scores_shape[-2:]:
        return "if 1 = may attend, try mask.bool() as key_mask= of a layer, since its axes are (B, K)"
    return "if 1 = may attend, try mask.bool(); if 1 = ignore, try mask == 0"


def check_fits_scores(name: str, x: Tensor, scores_shape: Sequence[int]) -> None:
    """``x`` must have two, three or four axes: K as long as that of the scores, the others as long or 1."""
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
        elif len(scores_shape) == 4 and x.dim() == 3 and x.shape[0] == sizes["B"] * sizes["H"]:
            given = f"{name}.unflatten(0, ({sizes['B']}, {sizes['H']}))"
            way_out = f"; for (B*H, Q, K): {given}" + (
                f", and ~{given} if True = ignore, as in nn.MultiheadAttention" if name == "mask" else ""
            )
        raise ValueError(
            f"{name} must be {allowed_text}, any axis but K may be 1, got shape {tuple(x.shape)}{way_out}"
        )


def check_score_bias(score_bias: Tensor, scores_shape: Sequence[int], device: torch.device) -> None:
    if isinstance(score_bias, Tensor) and score_bias.dtype == torch.bool:
        raise TypeError("score_bias must hold floating-point numbers, got torch.bool; a mask goes into mask=")
    check_floating("score_bias", score_bias)
    if score_bias.dim() == 3 and len(scores_shape) == 4 and 1 < scores_shape[0] == scores_shape[1]:
        raise ValueError(
            f"score_bias must have four axes (B, H, Q, K) where there are as many samples as heads, "
            f"{scores_shape[0]}, got shape {tuple(score_bias.shape)}; score_bias[None] if it is one for each "
            "head, score_bias[:, None] if it is one for each sample"
        )
    check_fits_scores("score_bias", score_bias, scores_shape)
    check_device("score_bias", score_bias, device)
    if is_read_at_once(score_bias) and not (largest := score_bias.detach().amax()) < math.inf:
        raise ValueError(
            f"score_bias must hold finite numbers, or −∞ for keys that are forbidden, got {float(largest)}; "
            "find it by score_bias.isfinite()"
        )


def is_read_at_once(x: Tensor) -> bool:
    """Whether numbers can be checked without waiting for a GPU."""
    return x.device.type == "cpu" and x.numel() > 0 and can_be_read(x)


def check_key_mask(
    key_mask: Tensor, batch: int, num_keys: int, device: torch.device, num_lost: int = 0
) -> None:
    way_out = "if 1 = may attend, try key_mask.bool(); if 0 = may attend, try key_mask == 0"
    check_boolean("key_mask", key_mask, lambda: way_out)
    if tuple(key_mask.shape) != (batch, num_keys):
        hint = "a mask with another shape goes into mask="
        if num_lost:
            hint = f"try key_mask[:, {num_lost}:], since the cache has let go the first {num_lost} keys"
        raise ValueError(
            f"key_mask must be (B, K) = ({batch}, {num_keys}), got shape {tuple(key_mask.shape)}; {hint}"
        )
    check_device("key_mask", key_mask, device)


def check_causal(num_queries: int, num_keys: int) -> None:
    if num_queries > num_keys:
        raise ValueError(
            f"a causal mask (is_causal) needs num_queries <= num_keys, got {num_queries} > {num_keys}: "
            "it is aligned at the end, so the first queries would see nothing; pass a mask of your own"
        )


def check_head_mask(head_mask: Tensor, batch: int, num_heads: int, device: torch.device) -> None:
    check_tensor("head_mask", head_mask)
    if head_mask.is_complex():
        raise TypeError(f"head_mask must hold real numbers, got {head_mask.dtype}; try head_mask.real")
    if tuple(head_mask.shape) not in ((num_heads,), (batch, num_heads)):
        raise ValueError(
            f"head_mask must be (H,) = ({num_heads},) or (B, H) = ({batch}, {num_heads}), "
            f"got shape {tuple(head_mask.shape)}; 1 keeps a head, 0 silences it"
        )
    check_device("head_mask", head_mask, device)
    if is_read_at_once(head_mask) and not head_mask.isfinite().all():
        raise ValueError(
            f"head_mask must hold finite numbers, got {head_mask.tolist()}; 1 keeps a head, 0 silences it"
        )


def check_changed_weights(changed: Tensor, weights: Tensor) -> None:
    way_out = "return a tensor like the weights it got"
    if not isinstance(changed, Tensor):
        raise TypeError(f"change_weights must return weights, got {type(changed).__name__}; {way_out}")
    if changed.shape != weights.shape or changed.dtype != weights.dtype or changed.device != weights.device:
        raise ValueError(
            f"change_weights must return {weights.dtype} of shape {tuple(weights.shape)} on "
            f"{weights.device}, got {changed.dtype} of shape {tuple(changed.shape)} on {changed.device}; "
            + way_out
        )


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


def check_token_positions(positions: Tensor, tokens: Tensor) -> None:
    check_tensor("positions", positions)
    if positions.shape != tokens.shape[:2] or positions.is_floating_point():
        raise ValueError(
            f"positions must be integers (B, N) = {tuple(tokens.shape[:2])}, got {positions.dtype} of shape "
            f"{tuple(positions.shape)}; positions.expand(B, -1) repeats those of one sample"
        )
    check_device("positions", positions, tokens.device)


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


def check_torch_module(module: nn.Module, expected: type[nn.Module]) -> None:
    """The module must be of PyTorch's class ``expected``, and nothing may change what it computes."""
    name = f"nn.{expected.__name__}"
    if not isinstance(module, expected):
        raise TypeError(f"module must be an {name}, got {type(module).__name__}")
    for method in ("__call__", *vars(expected)):
        given = vars(module).get(method) or getattr(type(module), method)
        if callable(given) and method not in HARMLESS and given is not getattr(expected, method):
            raise TypeError(
                f"module must compute what {name} does, got {type(module).__name__} with a {method} of its "
                f"own; copy its weights into an {name} first"
            )
    check_without_hooks("module", module)


HARMLESS = {"__init__", "__setstate__", "__doc__", "extra_repr"}  # methods that compute nothing


def check_without_hooks(name: str, module: nn.Module) -> None:
    if has_hooks(module):
        raise TypeError(
            f"{name} must be without hooks, which may change what it computes, got one with hooks; "
            "remove them first, or copy its weights into a new layer"
        )


def has_hooks(module: nn.Module) -> bool:
    forward, backward = ("_forward_hooks", "_forward_pre_hooks"), ("_backward_hooks", "_backward_pre_hooks")
    return any(getattr(module, hooks) for hooks in (*forward, *backward))


def refuse_scripting(module: nn.Module) -> None:
    raise TypeError(
        f"a layer must not be scripted by torch.jit, whose language it is not written in, got a script of "
        f"{type(module).__name__}; try torch.compile, or torch.export without a cache"
    )


def check_trained_alike(parameters: Iterable[Tensor]) -> None:
    """Parameters that become one tensor must all be trained, or none."""
    if len({x.requires_grad for x in parameters}) > 1:
        raise ValueError(
            "W_q, W_k and W_v must be alike in requires_grad, since PyTorch has one parameter for all three, "
            "got some with and some without; layer.requires_grad_() gives it to all"
        )


def check_plain_projections(layer: nn.Module, *names: str) -> None:
    """The projections must be all that they compute: not wrapped, quantized, or shared over devices."""
    for name in names:
        if fault := fault_of(getattr(layer, name)):
            raise TypeError(f"{name} of the layer must {fault}")


def fault_of(projection: nn.Module) -> str:
    """Why the weight of a projection is not all that it computes; empty if it is."""
    if type(projection) is not nn.Linear:
        came = type(projection).__name__
        return f"be an nn.Linear, got {came}; undo the quantization or the wrapper first"
    if (weight := projection._parameters.get("weight")) is None:
        return (
            "hold its weight as a parameter, got one that is computed before each call; "
            "make it permanent first, as torch.nn.utils.prune.remove does"
        )
    if type(weight.data) is not Tensor:
        came = type(weight.data).__name__
        return f"hold a plain tensor, got {came}; do this before shard_heads or quantization"
    if has_hooks(projection) or "forward" in vars(projection):
        return "be without hooks and a forward of its own, got one with them; remove them first"
    return ""


def check_token_numbers(name: str, tokens: Tensor, embedding: nn.Embedding, way_out: str = "") -> None:
    """Tokens must be integers ``(B, N)`` that ``embedding`` knows."""
    check_tensor(name, tokens)
    if tokens.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"{name} must hold tokens as integers, got {tokens.dtype}; try {name}.long()")
    if tokens.dim() != 2:
        way_out = f"; for a single sample: {name}[None]" if tokens.dim() == 1 else ""
        raise ValueError(f"{name} must be (B, N), got shape {tuple(tokens.shape)}{way_out}")
    check_device(name, tokens, embedding.weight.device)
    # Reading numbers on a GPU would wait for it; there PyTorch itself stops at a wrong one.
    if tokens.device.type == "cpu" and can_be_read(tokens) and tokens.numel():
        smallest, largest = (int(token) for token in tokens.aminmax())
        if smallest < 0 or largest >= embedding.num_embeddings:
            raise ValueError(
                f"{name} must hold tokens from 0 to {embedding.num_embeddings - 1}, "
                f"got {smallest} to {largest}; {way_out or f'{name}_vocab_size says how many there are'}"
            )


def check_token_number(name: str, token: int, embedding: nn.Embedding) -> None:
    checked_size(name, token, minimum=0)
    if token >= embedding.num_embeddings:
        raise ValueError(
            f"{name} must be a token from 0 to {embedding.num_embeddings - 1}, got {token}; "
            "target_vocab_size says how many there are"
        )


def check_not_empty(name: str, tokens: Tensor) -> None:
    if not tokens.numel():
        raise ValueError(
            f"{name} must hold at least one sample of one token, got shape {tuple(tokens.shape)}"
        )


def check_source_mask(source_mask: Tensor, source: Tensor) -> None:
    """``source`` is ``(B, S)``, or the memory that was made of it, ``(B, S, D)``."""
    way_out = "try source != padding, where padding is the token that fills up a source"
    check_boolean("source_mask", source_mask, lambda: way_out)
    if source_mask.shape != source.shape[:2]:
        raise ValueError(
            f"source_mask must be (B, S) = {tuple(source.shape[:2])}, as source, "
            f"got shape {tuple(source_mask.shape)}"
        )
