"""The frame of every published page: its head, its styles, its scripts, and what it may load.

Templates, style sheets and scripts are named by their paths from ``mha_lib/classroom/``, or whole ones.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from mha_lib.classroom import look

CLASSROOM = Path(__file__).parents[1]
TEMPLATES = Environment(loader=FileSystemLoader(CLASSROOM), autoescape=True)
TEMPLATES.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
Policy = Mapping[str, str]  # of a page's Content-Security-Policy: what may be loaded, and from where
OWN_STYLES: Policy = {"style-src": "'unsafe-inline'"}


def render(
    template: str,
    *,
    policy: Policy = OWN_STYLES,
    styles: Iterable[str],
    more_style: str = "",
    scripts: Iterable[str] = (),
    **content: Any,
) -> str:
    """A page whose template extends ``pages/page.html``; it may load what ``policy`` allows, nothing else.

    Every page needs a ``language`` and a ``title``. It may have a ``description``, an ``icon`` (True), the
    data of ``widgets``, and words for its scripts (``spoken``).
    """
    directives = {"default-src": "'none'", **policy, "form-action": "'none'", "base-uri": "'none'"}
    return TEMPLATES.get_template(template).render(
        policy=Markup("; ".join(" ".join(directive) for directive in directives.items())),
        style=Markup(look.for_older("\n".join((look.CSS, read("pages/page.css", *styles), more_style)))),
        script=read(*scripts),
        **content,
    )


def read(*names: str) -> Markup:
    """The text of style sheets or scripts, to stand in a page."""
    return Markup("\n".join((CLASSROOM / name).read_text(encoding="utf-8") for name in names))
