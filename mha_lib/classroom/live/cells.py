"""What the cells of a lesson show: figures in the theme of the page, and what an assert has shown."""

from typing import Any

from mha_lib.classroom.live.asserts import say_what_passes
from mha_lib.classroom.live.theme import follow_the_theme


def dress(shell: Any) -> None:
    """Let the cells of IPython's ``shell`` show figures and passed asserts as a lesson does."""
    follow_the_theme(shell)
    say_what_passes(shell)
