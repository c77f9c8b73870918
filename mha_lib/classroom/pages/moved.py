"""Pages at the addresses that a lesson had under its former names; they lead to its page."""

from pathlib import Path
from urllib.parse import quote

from mha_lib.classroom.lesson.files import write_whole
from mha_lib.classroom.lesson.slides import former_names
from mha_lib.classroom.pages import page
from mha_lib.classroom.pages.handout.page import STYLES, HandoutPage


def write_moved_pages(file: Path, handout: HandoutPage) -> None:
    """Write them beside the lesson's page, which lies in ``file``."""
    for name in former_names(handout.notebook):
        moved = page.render(
            "pages/moved.html",
            policy={"script-src": "'unsafe-inline'", **page.OWN_STYLES, "font-src": "data:"},
            language=handout.language,
            title=handout.description.title,
            styles=STYLES,
            scripts=["pages/moved.js"],
            address=quote(file.name),
        )
        write_whole(file.with_name(f"{name}.html"), moved)
