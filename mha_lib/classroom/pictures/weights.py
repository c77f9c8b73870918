"""Checks attention weights and masks for explorer and plots, and brings them into the shape (B,H,Q,K)."""

from typing import Any

import numpy as np

LARGEST = 65_504  # the largest float16, the type in which the explorer keeps weights


def to_numpy(array: Any) -> np.ndarray:
    """The array of a list, an array, or any tensor: also with a gradient, on a GPU, or in bfloat16."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        array = array.float() if array.is_floating_point() else array
    return np.asarray(array)


def as_weights(weights: Any, mask: Any = None) -> tuple[np.ndarray, np.ndarray | None]:
    """Weights (Q,K), (H,Q,K) or (B,H,Q,K) as (B,H,Q,K); the mask (True = may attend) in the same shape."""
    maps = to_numpy(weights)
    if maps.ndim not in (2, 3, 4) or maps.size == 0:
        got = "None; does the function return them?" if weights is None else f"shape {maps.shape}"
        raise ValueError(f"weights must be (Q,K), (H,Q,K) or (B,H,Q,K) and not empty, got {got}")
    if maps.dtype.kind not in "biuf":
        raise TypeError(f"weights must be numbers, got {maps.dtype}")
    if not np.isfinite(maps).all():
        raise ValueError("weights must be finite, got NaN or infinity; has a query no key left to attend to?")
    hint = "are these scores before softmax?"
    if maps.min() < 0:
        raise ValueError(f"weights must not be negative, got {maps.min():.3g}; {hint}")
    if maps.max() > LARGEST:
        raise ValueError(f"weights must not be above {LARGEST}, got {maps.max():.3g}; {hint}")
    maps = maps.reshape((1,) * (4 - maps.ndim) + maps.shape)
    if mask is None and maps.dtype == bool:
        mask = maps  # boolean weights are a mask: show which cells it allows
    return maps.astype(np.float32), None if mask is None else as_mask(mask, maps.shape)


def lengths_in(mask: Any) -> list[int] | None:
    """Where the padding of each sample begins, by a mask that is the same for all queries: (1,K), (B,1,K) or
    (B,H,1,K). None for another mask, or none.

    A sample without any allowed key has no padding that could be told apart: its length is K.
    """
    allowed = to_numpy(mask)
    if allowed.ndim not in (2, 3, 4) or allowed.shape[-2] != 1:
        return None
    keys = allowed.shape[-1]
    for_samples = allowed.reshape(len(allowed), -1, keys).any(1)  # (B, K)
    lengths = (for_samples * np.arange(1, keys + 1)).max(-1)
    return [int(length) or keys for length in lengths]


def as_mask(mask: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A mask (Q,K), (B,Q,K), (B,1,K) or (B,H,Q,K) in the full ``shape`` (B,H,Q,K)."""
    allowed = to_numpy(mask)
    if allowed.dtype != bool:
        raise TypeError(f"mask must be boolean (True = may attend), got {allowed.dtype}")
    for_all_heads = allowed[:, None] if allowed.ndim == 3 else allowed
    try:
        return np.broadcast_to(for_all_heads, shape)
    except ValueError:
        wanted = "(Q,K), (B,Q,K), (B,1,K) or (B,H,Q,K)"
        raise ValueError(f"mask {allowed.shape} must be {wanted} for weights (B,H,Q,K) = {shape}") from None
