"""The colours of queries, keys, values and outputs as Python takes them; ``look.css`` defines them."""

import re
from pathlib import Path

CSS = Path(__file__).with_name("look.css").read_text(encoding="utf-8")
PAIRS = re.findall(r"--(\w): light-dark\((#\w{6}), (#\w{6})\)", CSS)
LIGHT = {letter: light for letter, light, _ in PAIRS}  # {"q": "#0067a5", …}
DARK = {letter: dark for letter, _, dark in PAIRS}
