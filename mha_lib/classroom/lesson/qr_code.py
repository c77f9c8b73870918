"""Draws the address of the handouts as a QR code, for the title slide of a deck.

``course.json`` beside the lessons holds the address: ``{"handouts": "https://example.org/attention"}``. The
code is drawn when the deck is made, so a lecture needs no network for it.
"""

from pathlib import Path

from mha_lib.classroom.lesson.lessons import setting

PICTURE = "handouts.svg"  # jupyter/deck/handouts.js looks for this file beside the lesson


def write_qr_code(lessons: Path, deck: Path) -> None:
    """Draw the code into the deck's folder; without an address, remove one that was drawn before."""
    address = setting(lessons, "handouts")
    if not address:
        (deck / PICTURE).unlink(missing_ok=True)
        return
    import segno  # here: only a deck needs it

    segno.make(address, micro=False).save(str(deck / PICTURE), scale=8, light="white")
