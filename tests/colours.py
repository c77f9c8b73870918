"""Colours as WCAG compares them, and as people tell them apart."""

import numpy as np


def channels_of(colour: str) -> list[int]:
    """Red, green and blue of a colour such as ``#0067a5``."""
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def linear_of(colour: str) -> np.ndarray:
    channels = np.array(channels_of(colour)) / 255
    return np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear_of(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


# Linear red, green and blue as people without one kind of cone see them:
# Machado, Oliveira and Fernandes 2009, at severity 1.
VISIONS = {
    "all colours": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
# Oklab, Ottosson 2020: distances in it are about as large as the differences that people see.
TO_CONES = np.array(
    [[0.412221, 0.536333, 0.051446], [0.211903, 0.680700, 0.107397], [0.088302, 0.281719, 0.629979]]
)
TO_OKLAB = np.array(
    [[0.210454, 0.793618, -0.004072], [1.977998, -2.428592, 0.450594], [0.025904, 0.782772, -0.808676]]
)


def difference(one: str, other: str, vision: str) -> float:
    """How far apart two colours are in Oklab, where black is 1 from white, for people of this vision."""
    seen = [(VISIONS[vision] @ linear_of(colour)).clip(0, 1) for colour in (one, other)]
    here, there = (TO_OKLAB @ np.cbrt(TO_CONES @ linear) for linear in seen)
    return float(np.linalg.norm(here - there))
