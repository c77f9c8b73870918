"""TeX to outlines: the same picture in every browser, with or without a font for mathematics."""

import html
import re
import xml.etree.ElementTree as ET
from typing import Any

from mha_lib.classroom import palette

# The colours of Q, K, V and O change their shade with the theme: the page's style sheet defines both.
THEMED = {colour: f"var(--{letter})" for letter, colour in palette.LIGHT.items()}
SIZE = 16.0  # pixels to the em while drawing; the page gets its sizes in ems
SLANTED = frozenset("EFHIJKMNTUVWXYZ")  # these lean out of their width, and the drawing counts that twice
SIGNS = frozenset("+-−±∓")
# What the parser does not know or misreads, in commands that it knows.
REWRITES = (
    (r"\\operatorname\*?\{arg\s*\\,\s*(max|min)\}", r"\\arg\\\1"),
    (r"\\operatorname\*", r"\\operatorname"),
    (r"\{(align|gather|equation)\}", r"{\1*}"),  # formulas have no numbers on these pages
    (r"\\!\s*(?=\\left)", ""),  # the parser leaves no space before \left that \! could take away
    (r"(?<=\d),(?=\d{3}(?!\d))", "{,}"),  # 1,050,624 is one number, and its commas want no space
    (r":=", r"\\coloneqq "),
)


class FormulaError(ValueError):
    """TeX that cannot be read; ``command`` is the first one in it that is not known."""

    def __init__(self, reason: str = "", command: str = ""):
        super().__init__(reason)
        self.command = command


class Formulas:
    """Draws the formulas of one page; a glyph's outline is kept once and used by all of them."""

    def __init__(self) -> None:
        self.glyphs: dict[str, str] = {}  # box and outline -> name

    def render(self, tex: str, display: bool) -> str:
        """The formula as SVG for the eye and MathML for the ear."""
        try:
            mathml = parse(tex, display)
            picture = self._draw(mathml, display)
        except FormulaError:
            raise
        except Exception as error:  # the parser and the layout raise exceptions of every kind
            raise FormulaError(str(error) or type(error).__name__) from error
        kind = "block" if display else "inline"
        return f'{picture}<math display="{kind}" alttext="{html.escape(tex)}">{to_html(mathml)}</math>'

    def _draw(self, mathml: ET.Element, display: bool) -> str:
        import ziamath  # here, because nbconvert imports every exporter only to list their names

        ziamath.config.svg2, ziamath.config.precision = True, 2
        formula = ziamath.Math(set_like_tex(mathml), size=SIZE, margin=0)
        svg, box = formula.svgxml(), formula.node.bbox
        names = {symbol.get("id"): self._glyph(symbol) for symbol in svg.iter("symbol")}
        drawing = "".join(element_to_html(element, names) for element in svg)
        width, height, depth = (x / SIZE for x in (box.xmax - box.xmin, box.ymax - box.ymin, box.ymin))
        size = f"width:{width:.3f}em;height:{height:.3f}em;vertical-align:{depth:.3f}em"
        if display:  # on a narrow screen a wide formula shrinks a little before it scrolls
            size = f"width:clamp({0.75 * width:.2f}em,100%,{width:.2f}em)"
        return f'<svg viewBox="{svg.get("viewBox")}" style="{size}" aria-hidden="true">{drawing}</svg>'

    def _glyph(self, symbol: ET.Element) -> str:
        outline = "".join(path.get("d", "") for path in symbol.iter("path"))
        outline = re.sub(r"\s*([A-Za-z])\s*", r"\1", outline)
        if not outline:  # a space
            return ""
        key = f'viewBox="{symbol.get("viewBox")}"><path d="{outline}"/>'
        return self.glyphs.setdefault(key, f"glyph-{len(self.glyphs)}")

    def outlines(self) -> str:
        """What every formula refers to: one hidden drawing for the whole page."""
        symbols = "".join(f'<symbol id="{name}" {glyph}</symbol>' for glyph, name in self.glyphs.items())
        return f'<svg class="outlines" aria-hidden="true">{symbols}</svg>' if symbols else ""


def parse(tex: str, display: bool) -> ET.Element:
    from ziamath.tex import tex2mml

    for pattern, replacement in REWRITES:
        tex = re.sub(pattern, replacement, tex)
    mathml = ET.fromstring(tex2mml(tex, inline=not display))
    for element in mathml.iter():
        element.tag = element.tag.split("}")[-1]
        if element.text:
            element.text = re.sub(r"\\([_%&#$])", r"\1", element.text)
    for text in (*mathml.itertext(), "".join(mathml.itertext())):
        if unknown := re.search(r"\\[A-Za-z]+", text):
            raise FormulaError(command=unknown[0])
    return mathml


def set_like_tex(mathml: ET.Element) -> ET.Element:
    """A copy for drawing: spaces as TeX sets them, and typewriter letters, which the drawing lacks."""
    mathml = ET.fromstring(ET.tostring(mathml))
    for row in list(mathml.iter()):
        if row.tag in ("msup", "msubsup") and row[0].tag == "mi" and row[0].text in SLANTED:
            closer, script = ET.Element("mrow"), row[-1]
            closer.extend([ET.Element("mspace", width="-0.1em"), script])
            row.remove(script)
            row.append(closer)
        before = None
        for element in row:
            if element.tag == "mo" and element.text in (",", ";") and len(row) > 1:
                element.set("rspace", "thinmathspace")
            if element.tag == "mo" and element.text in SIGNS and opens_operand(before):
                element.attrib |= {"form": "prefix", "lspace": "0em", "rspace": "0em"}
            if element.attrib.get("mathvariant") == "monospace" and element.text:
                element.set("mathvariant", "normal")
                element.text = "".join(map(typewriter, element.text))
            before = element
    return mathml


def opens_operand(before: ET.Element | None) -> bool:
    """Whether a minus after this element is the sign of a number, and not a subtraction."""
    return before is None or (before.tag == "mo" and (before.text or "") not in tuple(")]}|‖!⟩⌋⌉′"))


def typewriter(letter: str) -> str:
    for first, start in (("A", 0x1D670), ("a", 0x1D68A), ("0", 0x1D7F6)):
        if first <= letter <= {"A": "Z", "a": "z", "0": "9"}[first]:
            return chr(start + ord(letter) - ord(first))
    return letter


def element_to_html(element: ET.Element, names: dict[str | None, str]) -> str:
    """A piece of the drawing, with the page's glyphs and colours."""
    if element.tag == "symbol":
        return ""
    attributes = dict(element.attrib)
    fill = attributes.pop("fill", "black").lower()
    if element.tag == "use":
        attributes["href"] = f"#{names[attributes['href'][1:]]}"
        if attributes["href"] == "#":
            return ""
    if fill != "black":
        attributes["style"] = f"fill:{THEMED.get(fill, fill)}"
    inside = "".join(element_to_html(child, names) for child in element)
    text = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items())
    return f"<{element.tag}{text}>{inside}</{element.tag}>"


def to_html(mathml: ET.Element) -> str:
    """The inside of <math>, with the letters of a word in one piece: "head", not "h e a d"."""
    text = "".join(ET.tostring(child, "unicode") for child in mathml)
    word: Any = r'<mi mathvariant="normal">(\w+)</mi><mi mathvariant="normal">(\w+)</mi>'
    while re.search(word, text):
        text = re.sub(word, r'<mi mathvariant="normal">\1\2</mi>', text)
    return text
