"""A function of the page: a script that runs programs, and what a worker needs to run it."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch_in_page.program import PageProgram

INTERPRETER = Path(__file__).with_name("interpreter.js")  # an ES module that imports nothing
WORKER = Path(__file__).with_name("worker.js")


def joined(modules: Iterable[Path]) -> str:
    """The text of modules as one that imports nothing; each stands after those whose exports it uses."""
    source = "\n".join(module.read_text(encoding="utf-8") for module in modules)
    return re.sub(r"^import [^;]*;\n|^export (?!default)", "", source, flags=re.MULTILINE)


@dataclass(frozen=True)
class PageFunction:
    """What a page computes, beyond the mathematics: it reads a text, say, and calls a program in a loop.

    script    the text of a module in JavaScript that imports nothing. Its default export is called as
              ``answer(question, { programs, data })``; an error that it throws is told to the reader
    programs  what PyTorch has recorded, by name; the script calls ``programs.name.run(inputs)``
    data      what else the script needs, such as a vocabulary: anything that JSON can hold
    """

    script: str
    programs: Mapping[str, PageProgram]
    data: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the first message to the worker, and ``worker``, the text of the worker itself."""
        json.dumps(self.data)  # or TypeError: the page takes JSON
        return {
            "worker": WORKER.read_text(encoding="utf-8"),
            "interpreter": INTERPRETER.read_text(encoding="utf-8"),
            "script": self.script,
            "programs": {name: program.as_dict() for name, program in self.programs.items()},
            "data": dict(self.data),
        }
