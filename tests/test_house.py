"""The house keeps its walls: imports run one way, no files import each other in a circle.

Imports within functions and those for types alone count like all others.
"""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[1] / "mha_lib"
CLASSROOM = "mha_lib.classroom"
# The rooms of the classroom, and the rooms that each may import beside itself.
GROUND = {"look", "course"}
MAY_IMPORT: dict[str, set[str]] = {
    "look": set(),
    "course": set(),
    "page_torch": set(),
    "tasks": GROUND | {"page_torch"},
    "live": GROUND | {"tasks", "page_torch"},
    "models": GROUND | {"tasks", "live"},
    "publish": GROUND,
    "students": GROUND | {"live", "publish"},
    "__init__": GROUND | {"live", "models"},
    "__main__": GROUND | {"publish", "students"},
}
WITHOUT_PYTHON = {"deck", "extension", "seat", "words"}
# The rooms of scripts, and those from which each may import.
SCRIPTS_MAY_IMPORT = {"extension": set(), "deck": {"extension"}, "seat": {"extension", "deck"}, "live": set()}
IMPORTED = re.compile(r"""\b(?:from|import)\s*\(?\s*["'](\.\.?/[^"']+)["']""")  # by a script


def name_of(file: Path) -> str:
    parts = file.relative_to(LIBRARY.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file): file for file in sorted(LIBRARY.rglob("*.py"))}


@cache
def imported_by(module: str) -> frozenset[str]:
    """The modules of the library that a module imports, at its top, in functions or for types."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{module} imports by a relative name"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in MODULES else node.module)
    return frozenset(found & MODULES.keys()) - {module}


def room_of(module: str) -> str:
    """The room of the classroom in which a module lies; "" for one of the mathematics."""
    if not module.startswith(CLASSROOM):
        return ""
    return [*module.removeprefix(CLASSROOM).strip(".").split("."), ""][0] or "__init__"


def test_every_room_has_its_walls():
    folder = LIBRARY / "classroom"
    files = {file.stem for file in folder.glob("*.py")}
    folders = {path.name for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert files | folders == MAY_IMPORT.keys() | WITHOUT_PYTHON


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_one_way(module):
    room = room_of(module)
    allowed = MAY_IMPORT[room] | {room, ""} if room else {""}
    beyond = {other for other in imported_by(module) if room_of(other) not in allowed}
    assert not beyond, f"{module} may not import {', '.join(sorted(beyond))}"


def test_no_modules_import_each_other_in_a_circle():
    """``CycleError`` names the modules of a circle."""
    tuple(TopologicalSorter({name: imported_by(name) for name in MODULES}).static_order())


def test_the_look_and_the_words_are_read_in_one_place():
    readers = {name for name, file in MODULES.items() if "look.css" in file.read_text(encoding="utf-8")}
    assert readers == {f"{CLASSROOM}.look"}


def scripts_imported_by(file: Path) -> list[Path]:
    return [(file.parent / name).resolve() for name in IMPORTED.findall(file.read_text(encoding="utf-8"))]


SCRIPTS = {file: scripts_imported_by(file) for file in LIBRARY.rglob("*.js")}


def test_no_scripts_import_each_other_in_a_circle():
    assert any(SCRIPTS.values())
    tuple(TopologicalSorter(SCRIPTS).static_order())


def test_scripts_import_one_way_and_what_is_there():
    for file, imported in SCRIPTS.items():
        room = file.relative_to(LIBRARY / "classroom").parts[0]
        for other in imported:
            assert other.is_file(), f"{file} imports {other}"
            beyond = {other.relative_to(LIBRARY / "classroom").parts[0]} - {room}
            assert beyond <= SCRIPTS_MAY_IMPORT.get(room, set()), f"{file} may not import {other}"


def test_no_test_imports_from_a_file_of_tests():
    """What several files of tests use stands in a module of its own."""
    for file in Path(__file__).parent.rglob("*.py"):
        imports = re.findall(
            r"^from tests\.(?:\w+\.)*test_\w+ import", file.read_text(encoding="utf-8"), re.M
        )
        assert not imports, f"{file}: {', '.join(imports)}"
