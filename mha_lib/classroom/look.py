"""The values of ``look.css`` for Python: the palette, and the look of a masked cell."""

import re
from pathlib import Path

CSS = Path(__file__).with_name("look.css").read_text(encoding="utf-8")
PAIRS = re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", CSS)
LIGHT = {name: light for name, light, _ in PAIRS}  # {"q": "#0067a5", …, "forbidden": "#ececec", …}
DARK = {name: dark for name, _, dark in PAIRS}
HATCH = {  # {"angle": 45.0, in degrees, "gap": 0.34 and "line": 0.08, in em}
    name: float(number) for name, number in re.findall(r"--hatch-(\w+): (-?[\d.]+)", CSS)
}
RULE = re.compile(r"([^{}]*+)\{([^{}]*+)\}")
PAIR = re.compile(r"([\w-]+): light-dark\(([^,()]+), ([^,()]+)\)")
OLDER = "@supports not (color: light-dark(red, red)) {{\n{light}{dark}{themed}}}\n"
DARK_RULES = "@media screen and (prefers-color-scheme: dark) {{\n{rules}}}\n"


def for_older(css: str) -> str:
    """The style sheet with rules after it for browsers without ``light-dark()``.

    Their colours are light, or dark where the system prefers that; in JupyterLab its theme decides.
    """
    light = dark = themed = ""
    for selector, body in RULE.findall(re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)):
        if not (pairs := PAIR.findall(body)):
            continue
        name = " ".join(selector.split())
        in_light, in_dark = ("; ".join(f"{pair[0]}: {pair[at]}" for pair in pairs) for at in (1, 2))
        light += f"{name} {{ {in_light} }}\n"
        dark += f"{name} {{ {in_dark} }}\n"
        if name != ":root":
            for is_light, rule in (("true", in_light), ("false", in_dark)):
                themed += f'[data-jp-theme-light="{is_light}"] {name} {{ {rule} }}\n'
    return css + OLDER.format(light=light, dark=DARK_RULES.format(rules=dark), themed=themed)
