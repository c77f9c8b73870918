"""Ways to break the interpreter of ``torch_in_page``: patterns of its JavaScript, and what then stands there.

Every place where a pattern fits makes one broken interpreter; comments and messages are left alone.
"""

import hashlib
import re
from collections.abc import Iterable

from torch_in_page import INTERPRETER

SOURCE = INTERPRETER.read_text(encoding="utf-8")
IN_CI = 8
PATTERNS = {
    # shapes and places
    r"(\w+) < 0 \? \1 \+ (\w+) : \1": r"\1",
    r" \* (strides\[axis\]|step[AB]?|shape\[axis\]|inner|columns|rows)\b": "",
    r"= offset\b": "= 0",
    r" - added\b": "",
    r"(?<=[\w)\]]) [+-] 1\b(?! [<>/*])": "",
    r"axis - axes \+ shape\.length": "axis",
    r"\[(rows|before|min), (\w+)\] = ": r"[\2, \1] = ",
    r"widths\[i\]": "widths[0]",
    r"\? -1 : 1": "? 1 : -1",
    r"from -= .*;": "",
    r"\[\.\.\.(\w+), \.\.\.(\w+)\]": r"[...\2, ...\1]",
    # numbers
    r"\? ([\w.]+) : ([\w.]+)(?=[,;)\]])": r"? \2 : \1",
    r"Math\.max\b": "Math.min",
    r"Math\.min\b": "Math.max",
    r"Math\.ceil\b": "Math.floor",
    r"Math\.floor\b": "Math.ceil",
    r"Math\.trunc\b": "Math.floor",
    r"unary\(Math\.\w+\)": "unary(Math.cbrt)",
    r" - (largest|mean)\b": "",
    r" \+ epsilon": "",
    r"\b(alpha|beta) \* ": "",
    r"(=> \w+) ([*/%]) ": r"\1 + ",
    r"=> -x": "=> x",
    r"-Infinity": "Infinity",
    r"\b(1023|1024)\b": "3",
    r"sums\.fill\(0\)": "sums.at(0)",
    # conditions
    r"=> a (<=?|>=?|===|!==) b": r"=> !(a \1 b)",
    r" === ": " !== ",
    r" !== ": " === ",
    r" && ": " || ",
    r" \|\| ": " && ",
    r"\.every\(": ".some(",
    r"(keepdim|weight|bias|exponent)(?=\s+\?)": "true",
    r"if \((.+)\) (?=refuse|throw)": "if (false) ",
}


def broken_interpreters() -> dict[str, str]:
    """Return each broken interpreter by a name that says what was done to which line."""
    found: dict[str, str] = {}
    for pattern, new in PATTERNS.items():
        for match in re.finditer(pattern, SOURCE):
            line = SOURCE[SOURCE.rfind("\n", 0, match.start()) + 1 : SOURCE.index("\n", match.end())].strip()
            if line.startswith(("/", "A tensor", "writes")) or "`" in line.split(match[0])[0]:
                continue
            if line.startswith("const last =") or (line.startswith("for ") and "||" in new):
                continue  # it might never end
            if "tensors.length === 1" in line:
                continue  # no recorded program joins an empty list
            name = f"{line}: {match[0]} → {match.expand(new)}"
            name += f", {sum(other.startswith(name) for other in found) + 1}" if name in found else ""
            found[name] = SOURCE[: match.start()] + match.expand(new) + SOURCE[match.end() :]
    return found


def drawn(names: Iterable[str], source: str = SOURCE) -> set[str]:
    """Draw some of the names: the same for the same interpreter, others after each change of it."""
    digest = {name: hashlib.sha256((source + name).encode()).digest() for name in names}
    return set(sorted(digest, key=digest.__getitem__)[:IN_CI])
