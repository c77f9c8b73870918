"""Keep the keys and values of earlier calls, so that each is computed only once.

The shape letters are those of ``attention.py``; N counts the tokens of one call.
"""

import copy
from abc import abstractmethod
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor, nn

from mha_lib import checks, tracing
from mha_lib.positions import Rotary


class CachedAttention(nn.Module):
    """A layer whose keys and values a ``KVCache`` can keep.

    Its state dict notes how wide a head is: the same parameters make other heads of another width.
    """

    rotary: Rotary | None  # how the kept keys have been turned
    window: int | None  # how many keys a query sees, None for all
    num_hiddens: int
    num_heads: int
    head_dim: int

    @abstractmethod
    def usual_options(self) -> dict[str, Any]:
        """The options of this layer as ``__init__`` has them unless said otherwise; None: it has none."""

    def unusual_options(self) -> dict[str, Any]:
        """The options of this layer that are not the usual ones."""
        usual = self.usual_options()
        return {name: value for name, than in usual.items() if (value := getattr(self, name)) != than}

    def extra_repr(self) -> str:
        """Describe the layer for ``print``, which shows its projections below."""
        options = {"num_heads": self.num_heads} | self.unusual_options()
        return ", ".join([str(self.num_hiddens), *(f"{name}={value}" for name, value in options.items())])

    def check_heads_and_cache(
        self, queries: Tensor, num_new_keys: int, head_mask: Tensor | None, cache: "KVCache | None"
    ) -> None:
        """A head mask and a cache must be of this layer, and of the batch of ``queries``."""
        if head_mask is not None:
            checks.check_head_mask(head_mask, queries.shape[0], self.num_heads, queries.device)
        if cache is not None:
            checks.check_class("cache", cache, KVCache, "try KVCache(layer, batch, max_tokens)")
            cache.check_room(self, queries.shape[0], num_new_keys)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if notes := getattr(destination, "_metadata", {}).get(prefix[:-1]):
            notes["head_dim"] = self.head_dim

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, *lists: list[str]
    ) -> None:
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, *lists)
        if (saved := local_metadata.get("head_dim", self.head_dim)) != self.head_dim:
            lists[-1].append(
                f"{prefix or 'layer '}must have heads as wide as the saved ones, head_dim={saved}, got "
                f"head_dim={self.head_dim}; build the layer with the num_heads of the one that was saved"
            )

    __prepare_scriptable__ = checks.refuse_scripting


class KVCache:
    """The projected keys and values of earlier calls of one layer, so that each is computed only once.

    layer       the ``MultiHeadAttention`` or ``LatentAttention`` whose keys and values it keeps; each layer
                needs a cache of its own
    batch       B
    max_tokens  how many tokens fit in; the first call takes the memory for all of them, or for three windows
                where the layer has a ``window``

    Step by step, in chunks of one or more tokens, a causal layer gives what it gives for all tokens at once::

        cache = KVCache(layer, batch, max_tokens)
        with torch.no_grad():
            for chunk in x.split(sizes, dim=1):
                outputs.append(layer(chunk, cache=cache, is_causal=True))

    Cross-attention gets its fixed keys once, ``layer(queries, memory, cache=cache)``, and no keys in later
    calls, ``layer(queries, memory[:, :0], cache=cache)``.

    ``len(cache)`` tells how many tokens it holds, ``reset()`` forgets them. ``keep``, ``crop`` and
    ``reorder`` change what it holds, ``copy`` makes another that goes on from there. ``mask``, ``key_mask``,
    ``valid_lens`` and ``score_bias`` apply to all keys that it holds, the new ones included. NaN and infinity
    in a key that comes as padding are kept as 0. Padding is counted as a position, so after padding on the
    right a layer with ``rotary`` needs ``positions``.
    With a ``window`` the cache forgets by itself: before each call it holds the last ``window - 1`` tokens.
    Gradients do not flow through a cache: a call whose keys or values need one raises RuntimeError, and so
    does a call inside a backward pass, such as one that is computed again for ``checkpoint``.

    ``pickle``, ``torch.save`` and ``deepcopy`` leave out the layer: the first layer that is called with such
    a copy becomes its layer.

    Source: Shazeer 2019, section 2.4. Elsewhere: ``DynamicCache``, ``StaticCache`` and ``past_key_values``
    (Hugging Face), ``KVCache`` (torchtune).
    """

    def __init__(self, layer: CachedAttention, batch: int, max_tokens: int):
        if not isinstance(layer, CachedAttention):
            raise TypeError(
                f"layer must be a MultiHeadAttention or a LatentAttention, got {type(layer).__name__}; "
                "MultiHeadAttention.from_torch makes one of an nn.MultiheadAttention"
            )
        self.layer: CachedAttention | None = layer  # None: the first one that is called
        self.rotary, self.window = layer.rotary, layer.window
        self.batch = checks.checked_size("batch", batch)
        self.max_tokens = checks.checked_size("max_tokens", max_tokens)
        self.num_seen = 0  # tokens that came, less those cropped: the position of the next token
        self.num_dropped = 0  # of them, those that ``keep`` took out
        self.start = self.end = 0  # the places of the tokens that are held
        self.keys: Tensor | None = None  # (B, G, places, d)
        self.values: Tensor | None = None  # (B, G, places, d_v)
        self.first_keys: Tensor | None = None  # (B, G, first, d), as they were before ``keep`` moved them
        self.first_moved = 0  # how many positions ``keep`` has moved them

    def __len__(self) -> int:
        return self.end - self.start

    def __bool__(self) -> bool:
        raise TypeError(
            "a cache must not be used as True or False, since an empty one is there all the same; "
            "try cache is not None, or len(cache) > 0"
        )

    def copy(self) -> Self:
        """Another cache of the same layer that holds the same tokens, in memory of its own."""
        other = copy.copy(self)
        other.__dict__ = self.__getstate__() | {"layer": self.layer}
        return other

    def __getstate__(self) -> dict[str, Any]:
        with torch.inference_mode(False):  # usable in and outside inference mode
            own = {name: x.clone() for name, x in vars(self).items() if isinstance(x, Tensor)}
        return vars(self) | own | {"layer": None}

    def reset(self) -> None:
        """Forget all tokens, but keep their memory."""
        self.num_seen = self.num_dropped = self.start = self.end = self.first_moved = 0
        self.first_keys = None

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add projected keys and values ``(B, G, N, ·)``; return all that it now holds, ``(B, G, K, ·)``."""
        self.check_cacheable(keys, values)
        held_keys, held_values = self.buffers(keys, values)
        new, start, end = keys.shape[2], self.start, self.end + keys.shape[2]
        if not new:  # an empty write would still spoil what earlier calls need for their gradients
            return held_keys[:, :, start:end], held_values[:, :, start:end]
        self.num_seen += new
        if end <= held_keys.shape[2]:
            held_keys[:, :, self.end : end] = keys
            held_values[:, :, self.end : end] = values
            self.end = end
            self.forget()
            return held_keys[:, :, start:end], held_values[:, :, start:end]
        # The end of the memory is reached: another one holds what goes on, so that the call can be undone.
        first = max(0, start - (self.window or 0))  # so much may be seen again after a ``crop``
        all_keys = torch.cat([held_keys[:, :, first : self.end], keys], dim=2)
        all_values = torch.cat([held_values[:, :, first : self.end], values], dim=2)
        self.start = self.end = 0
        self.keys, self.values = None, None
        kept = min(held_keys.shape[2], end - first)  # of a long chunk, its end will be needed later
        held_keys, held_values = self.buffers(keys, values)
        held_keys[:, :, :kept] = all_keys[:, :, -kept:]
        held_values[:, :, :kept] = all_values[:, :, -kept:]
        self.end = kept
        self.forget()
        return all_keys[:, :, start - first :], all_values[:, :, start - first :]

    def takes_next(self, layer: CachedAttention, token: Tensor) -> bool:
        """Whether ``token`` may be one more of the layer's, ``(B, 1, D)``, and there is memory for it."""
        return (
            self.layer is layer
            and self.keys is not None
            and self.end < self.keys.shape[2]
            and type(token) is Tensor
            and token.shape == (self.batch, 1, layer.num_hiddens)
            and tracing.only_computes(token)
        )

    def with_next(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """All that is held and one more ``(B, G, 1, ·)``, written behind it: ``hold_next`` keeps it."""
        held_keys, held_values = self.keys, self.values
        assert held_keys is not None
        assert held_values is not None
        if keys.dtype is not held_keys.dtype or keys.device != held_keys.device:
            self.check_cacheable(keys, values)
        start, end = self.start, self.end + 1
        held_keys[:, :, self.end : end] = keys
        held_values[:, :, self.end : end] = values
        return held_keys[:, :, start:end], held_values[:, :, start:end]

    def hold_next(self) -> None:
        self.end += 1
        self.num_seen += 1
        self.forget()

    def buffers(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """The memory for keys and values like these."""
        if self.keys is None or self.keys.dtype != keys.dtype or self.keys.device != keys.device:
            size = self.max_tokens if self.window is None else min(self.max_tokens, 3 * self.window)
            with torch.inference_mode(False):  # usable in and outside inference mode
                self.keys, self.values = (
                    torch.zeros(*x.shape[:2], size, x.shape[3], dtype=x.dtype, device=x.device)
                    for x in (keys, values)
                )
        assert self.values is not None
        return self.keys, self.values

    def forget(self) -> None:
        """Let go the tokens that no later query will see."""
        if self.window is not None:
            self.start = max(self.start, self.end - self.window + 1)

    def keep(self, first: int, last: int) -> None:
        """Keep the first and the last so many tokens, and drop all between them: attention sinks.

        A rotary layer then counts positions within the cache, as if the tokens between had never been there:
        the next token stands at the position ``first + last``. (The last tokens stay as they are turned, and
        the first ones are turned to as many positions before them; scores depend on distances alone.)
        Raises ValueError for a layer with a ``window``, which forgets by itself.

        Source: Xiao et al. 2024 (StreamingLLM), section 3.2.
        """
        first, last = checks.checked_size("first", first, 0), checks.checked_size("last", last, 0)
        if self.window is not None:
            raise ValueError(
                "cache.keep needs a layer without window, whose queries would not see the first tokens, "
                f"got window={self.window}; build the layer without it, and keep(first, last) each step"
            )
        removed = len(self) - first - last
        if removed <= 0 or self.keys is None:
            return
        if self.rotary is not None and first:
            if self.first_keys is None or self.first_keys.shape[2] != first:
                self.first_keys, self.first_moved = self.keys[:, :, :first].clone(), 0
            self.first_moved += removed  # turned anew each time, so that roundings do not add up
            self.keys[:, :, :first] = self.rotary.move(self.first_keys, self.first_moved)
        else:
            self.first_keys = None
        self.num_dropped += removed
        for buffer in (self.keys, self.values):
            assert buffer is not None
            buffer[:, :, first : first + last] = buffer[:, :, self.end - last : self.end].clone()
        self.end = first + last

    def crop(self, num_tokens: int) -> None:
        """Keep the first ``num_tokens`` that it holds, and forget those after them: to take back a guess.

        With a ``window`` it takes up again the tokens before them that will be seen again. Raises ValueError
        for more tokens than it holds, and where tokens that would be seen again are no longer in memory: a
        window less one can be taken back always, if ``max_tokens`` is three windows or more.

        Source: speculative decoding, Leviathan et al. 2023. Elsewhere: ``DynamicCache.crop`` (Hugging Face).
        """
        num_tokens = checks.checked_size("num_tokens", num_tokens, 0)
        if num_tokens > len(self):
            raise ValueError(
                f"num_tokens must be at most the {len(self)} that the cache holds, got {num_tokens}"
            )
        removed = len(self) - num_tokens
        start = self.start
        if self.window is not None and removed:
            start = self.end - removed - self.window + 1
            if start < 0 and self.num_seen > self.end:
                raise ValueError(
                    f"cache must still hold what the window={self.window} would see again, got a crop of "
                    f"{removed} tokens after it has forgotten some; crop before, or begin anew with "
                    "cache.reset()"
                )
        self.start = max(0, start)
        self.end -= removed
        self.num_seen -= removed
        if self.first_keys is not None and num_tokens < self.first_keys.shape[2]:
            self.first_keys = None  # other tokens will stand there

    def reorder(self, index: Tensor) -> None:
        """Make sample i go on from what sample ``index[i]`` holds, as beam search does; ``(B,)``, integers.

        An index of another length changes ``batch``. Raises TypeError or ValueError for other tensors.

        Elsewhere: ``DynamicCache.reorder_cache`` (Hugging Face).
        """
        checks.check_tensor("index", index)
        if index.dtype not in (torch.int32, torch.int64) or index.dim() != 1 or not len(index):
            raise TypeError(
                f"index must be a tensor of integers (B,), got {index.dtype} of shape {tuple(index.shape)}; "
                "try torch.tensor([0, 0])"
            )
        if checks.is_read_at_once(index) and not (index.min() >= 0 and index.max() < self.batch):
            raise ValueError(f"index must name samples from 0 to {self.batch - 1}, got {index.tolist()}")
        self.batch = len(index)
        with torch.inference_mode(False):
            for name in ("keys", "values", "first_keys"):
                held = getattr(self, name)
                if held is not None:
                    setattr(self, name, held.index_select(0, index.to(held.device)))

    def check_room(self, layer: CachedAttention, batch: int, num_new_keys: int) -> None:
        """The cache must have been made for this layer and this batch, and have room for the new keys."""
        if (self.layer or layer) is not layer or (self.rotary, self.window) != (layer.rotary, layer.window):
            raise ValueError(
                "cache must have been made for this layer, got the cache of another one; "
                "every layer needs its own: KVCache(layer, batch, max_tokens)"
            )
        if self.batch != batch:
            raise ValueError(
                f"cache must be of the batch of queries, {batch}, got a cache for {self.batch}; "
                f"try KVCache(layer, {batch}, {self.max_tokens})"
            )
        if len(self) + num_new_keys > self.max_tokens:
            raise ValueError(
                f"cache must have room for {len(self)} + {num_new_keys} tokens, "
                f"got max_tokens={self.max_tokens}; "
                "call cache.reset() for a new sequence, or make a larger KVCache"
            )

    def check_cacheable(self, keys: Tensor, values: Tensor) -> None:
        """Projected keys and values must be without gradients, and alike to those that are held already."""
        if torch.is_grad_enabled() and (keys.requires_grad or values.requires_grad):
            raise RuntimeError(
                "cache holds keys and values without their gradients, got some that require gradients; "
                "call the layer under torch.no_grad(), or without a cache"
            )
        if tracing.is_exporting():
            raise RuntimeError(
                "cache must be used outside torch.export and make_fx, which would keep what it holds now "
                "for ever; export the layer without a cache, or use torch.compile"
            )
        if tracing.is_inside_backward() and keys.shape[2]:
            raise RuntimeError(
                "cache must not grow inside a backward pass, which calls a layer once more where checkpoint "
                "computes it again; call the layer without a cache there"
            )
        if tracing.is_transformed(keys):
            raise RuntimeError(
                "cache must be used outside torch.func.vmap, grad and jvp, got a call inside one of them; "
                "call the layer without a cache there"
            )
        for held, new in zip((self.keys, self.values), (keys, values), strict=True):
            if len(self) and held is not None and kind_of(held) != kind_of(new):
                raise ValueError(
                    f"cache must go on with what it holds, {held.shape[1]} heads of width {held.shape[3]} in "
                    f"{held.dtype} on {held.device}, got {new.shape[1]} of {new.shape[3]} in {new.dtype} on "
                    f"{new.device}; call cache.reset() first"
                )


def kind_of(x: Tensor) -> tuple[torch.dtype, torch.device, int, int]:
    """Type, device, heads and width of keys or values ``(B, G, N, d)``: the same in all calls of a layer."""
    return x.dtype, x.device, x.shape[1], x.shape[3]


class UnchangedByErrors:
    """While its block runs, an error leaves the caches as they were, so that a call can be tried again."""

    def __init__(self, caches: Iterable[KVCache | None]):
        self.before = [(cache, dict(vars(cache))) for cache in caches if cache is not None]

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, error: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if error is not None:
            for cache, state in self.before:
                vars(cache).update(state)
