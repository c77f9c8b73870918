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
