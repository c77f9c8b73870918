"""Make a piece of HTML inert: nh3 (ammonia) lets through what runs, fetches and sends nothing."""

import html
import re
from urllib.parse import unquote

import nh3

MATHML = """math menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms
    mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover semantics"""
MORE = "input progress section tfoot"
TAGS = (nh3.ALLOWED_TAGS - {"area", "map", "nav"}) | {*MATHML.split(), *MORE.split()}
# No name: an element called "body" would hide document.body from scripts.
ANYWHERE = """align alt class dir height id lang style title valign width
    accent columnalign columnspan display displaystyle fence linethickness lspace mathcolor mathsize
    mathvariant movablelimits notation rowspan rspace scriptlevel separator stretchy symmetric"""
ATTRIBUTES = {
    "*": ANYWHERE,
    "a": "href",
    "col": "span",
    "colgroup": "span",
    "details": "open",
    "img": "src",
    "input": "checked",
    "li": "value",
    "ol": "reversed start type",
    "progress": "max value",
    "td": "colspan",
    "th": "colspan scope",
}
# Properties whose values name no file. None of them lets an element stand over the rest of the page.
PROPERTIES = """background-color border border-bottom border-collapse border-color border-left border-radius
    border-right border-style border-top border-width color display font-family font-size font-style
    font-variant font-weight height letter-spacing line-height margin margin-bottom margin-left margin-right
    margin-top max-height max-width min-height min-width opacity padding padding-bottom padding-left
    padding-right padding-top text-align text-decoration text-indent vertical-align white-space width"""
ATTACHMENT = "attachment:"  # the start of the address of a picture that is stored in the notebook's cell
Attachments = dict[str, dict[str, str]]  # the name of a picture in a cell -> its type -> base64
SKIPPED = re.compile(r"[\x00-\x20]")  # by browsers where they read the scheme of an address
FETCHING = re.compile(r"url|image|src|\\", re.IGNORECASE)  # in a style; the \ may hide one of these words
CONTENT_TOO = {"canvas", "iframe", "noscript", "object", "script", "select", "style", "template", "textarea"}
# Readers of the notebook may miss these. Tables of pandas have a <style scoped> that a page does without.
MISSED = re.compile(
    r"<(audio|video|script|iframe|object|embed|canvas|form|select|textarea|link|meta|base|svg"
    r"|style(?!\s+scoped))\b",
    re.I,
)


def sanitised(source: str, attachments: Attachments | None = None) -> tuple[str, list[str]]:
    """The part of a piece of HTML that needs no program and no network, with each element closed, and what
    is missing in it. A picture among the ``attachments`` gets its data."""
    missing = [f"<{name.lower()}>" for name in MISSED.findall(source)]

    def checked(element: str, name: str, value: str) -> str | None:
        """An attribute's value, or None for one that a page may not have."""
        if name == "style" and FETCHING.search(value):
            return None
        if name == "src" and value.startswith(ATTACHMENT):
            stored = (attachments or {}).get(unquote(value.removeprefix(ATTACHMENT)), {})
            return next((f"data:{kind};base64,{data}" for kind, data in stored.items()), value)
        return None if name == "href" and is_data(value) else value

    clean = nh3.clean(
        source,
        tags=TAGS,
        clean_content_tags=CONTENT_TOO,
        attributes={element: set(names.split()) for element, names in ATTRIBUTES.items()},
        attribute_filter=checked,
        tag_attribute_values={"input": {"type": {"checkbox"}}},
        set_tag_attribute_values={"input": {"disabled": ""}},
        filter_style_properties=set(PROPERTIES.split()),
        url_schemes={"http", "https", "mailto", "data", ATTACHMENT.removesuffix(":")},
        link_rel=None,
    )
    return clean, list(dict.fromkeys(missing))


def is_data(address: str) -> bool:
    """Whether a browser reads an address as data: such as a whole page, scripts included."""
    return SKIPPED.sub("", address).lower().startswith("data:")


def escaped(text: str) -> str:
    """Text as it stands between two tags."""
    return html.escape(text, quote=False)
