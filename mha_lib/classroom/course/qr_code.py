"""The address of the handouts as a QR code, for the title slide of a deck.

``course.json`` beside the lessons names the address: ``{"handouts": "https://example.org/attention"}``. The
code is drawn when the deck is made, so that nothing is asked of a network in front of a class.
"""

from pathlib import Path

from mha_lib.classroom.course.lessons import setting

PICTURE = "handouts.svg"  # as deck/static/handouts.js looks for it, beside the lesson


def write_qr_code(lessons: Path, deck: Path) -> None:
    """Draw the code into the deck's folder; where no address is named, see to it that none is left there."""
    picture = deck / PICTURE
    address = setting(lessons, "handouts")
    if not address:
        picture.unlink(missing_ok=True)
        return
    import segno  # here, for the lessons themselves need it nowhere

    segno.make(address, micro=False).save(str(picture), scale=8, light="white")
