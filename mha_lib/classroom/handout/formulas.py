"""TeX to outlines: the same picture in every browser, with or without a font for mathematics."""

import html
import re
import xml.etree.ElementTree as ET

# Q, K, V and O change their shade with the theme; the page's style sheet has both.
THEMED = {"#0067a5": "var(--q)", "#b04500": "var(--k)", "#007556": "var(--v)", "#97447a": "var(--o)"}
SIZE = 16.0  # px to the em while drawing; the page gets ems


class Formulas:
    """Draws the formulas of one page; a glyph's outline is kept once and used by all of them."""

    def __init__(self) -> None:
        self.glyphs: dict[str, str] = {}
        self.complaints: list[str] = []

    def render(self, tex: str, display: bool) -> str:
        """The formula as SVG for the eye and MathML for the ear; TeX that can't be read stays TeX."""
        tex = tex.strip()
        try:
            return self._draw(tex, display)
        except Exception as error:  # the parser and the layout raise what they like
            self.complaints.append(f"formula left as TeX: {tex} ({type(error).__name__}: {error})")
            return f'<code class="tex">{html.escape(tex)}</code>'

    def _draw(self, tex: str, display: bool) -> str:
        import ziamath  # here, because nbconvert loads every exporter to list their names

        ziamath.config.svg2, ziamath.config.precision = True, 2
        formula = ziamath.Latex(tex, size=SIZE, inline=not display, margin=0)
        mathml = formula.mathmlstr()
        if unknown := re.search(r"\\[A-Za-z]+", mathml):
            raise ValueError(f"unknown command {unknown[0]}")
        svg = formula.svgxml()
        drawing = "".join(self._element(element) for element in svg if element.tag != "title")
        box = formula.node.bbox
        width, height, depth = (x / SIZE for x in (box.xmax - box.xmin, box.ymax - box.ymin, box.ymin))
        size = f"width:{width:.3f}em;height:{height:.3f}em;vertical-align:{depth:.3f}em"
        if display:
            size = f"width:clamp({0.72 * width:.2f}em,100%,{width:.2f}em)"
        picture = f'<svg viewBox="{svg.get("viewBox")}" style="{size}" aria-hidden="true">{drawing}</svg>'
        spoken = (
            f'<math display="{"block" if display else "inline"}" alttext="{html.escape(tex)}">{mathml}</math>'
        )
        if display:
            return f'<div class="formula" tabindex="0">{picture}{spoken}</div>'
        return f'<span class="formula">{picture}{spoken}</span>'

    def _element(self, element: ET.Element) -> str:
        if element.tag == "symbol":
            name = self._id(element.get("id", ""))
            outline = "".join(path.get("d", "") for path in element)  # a space has none
            outline = re.sub(r"\s*([A-Za-z])\s*", r"\1", outline)
            self.glyphs[name] = (
                f'<symbol id="{name}" viewBox="{element.get("viewBox")}"><path d="{outline}"/></symbol>'
            )
            return ""
        fill = element.attrib.pop("fill", "black")
        attributes = {name: value for name, value in element.attrib.items() if value != "none"}
        if element.tag == "use":
            attributes["href"] = f"#{self._id(attributes['href'].lstrip('#'))}"
        if fill != "black":
            attributes["style"] = f"fill:{THEMED.get(fill.lower(), fill)}"
        inside = "".join(map(self._element, element))
        text = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items())
        return f"<{element.tag}{text}>{inside}</{element.tag}>" if inside else f"<{element.tag}{text}/>"

    @staticmethod
    def _id(name: str) -> str:
        return "g-" + name.removeprefix("STIXTwoMathRegular_")

    def outlines(self) -> str:
        """What every formula refers to: one hidden drawing for the whole page."""
        return f'<svg class="outlines" aria-hidden="true">{"".join(self.glyphs.values())}</svg>' * bool(
            self.glyphs
        )
