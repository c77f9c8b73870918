"""Colours as WCAG compares them."""

import numpy as np


def channels_of(colour: str) -> list[int]:
    """Red, green and blue of a colour such as ``#0067a5``."""
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def luminance(colour: str) -> float:
    channels = np.array(channels_of(colour)) / 255
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
