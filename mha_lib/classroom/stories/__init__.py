"""Stories that a small language model learns to tell, in English and Chinese.

``en.json`` and ``zh.json`` hold words and sentences. ``tales.py`` draws stories from them, and says of each
token whether it can be known.
"""

from mha_lib.classroom.stories.tales import (
    ASKED,
    EITHER,
    FIRST,
    NEW,
    OTHER,
    REST,
    Tales,
    Texts,
    tales_here,
    tales_in,
)

__all__ = ["ASKED", "EITHER", "FIRST", "NEW", "OTHER", "REST", "Tales", "Texts", "tales_here", "tales_in"]
