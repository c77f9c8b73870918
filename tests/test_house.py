"""The house keeps its walls: imports run one way, no files import each other in a circle.

Imports within functions and those for types alone count like all others.
"""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "mha_lib"
CLASSROOM = "mha_lib.classroom"
LODGERS = {"offline_notebook", "torch_in_page"}  # packages of their own, which know no course
# The rooms of the classroom from the ground up: each may import those before it.
ROOMS = ["look", "lesson", "pictures", "explorer", "trainings", "real_model", "heads", "models"]
ROOMS += ["translator", "stories", "exercises", "begin", "__init__", "jupyter", "pages", "students"]
ROOMS += ["doctor", "ahead", "fetch", "__main__"]
WITHOUT_PYTHON = {"words"}
# The rooms of scripts, for jupyter its folders, and those from which each may import beside itself.
SCRIPTS_MAY_IMPORT = {
    "deck": {"shared"},
    "seat": {"shared"},
    "heads": {"explorer"},
    "translator": {"explorer"},
}
IMPORTED = re.compile(r"""\b(?:from|import)\s*\(?\s*["'](\.\.?/[^"']+)["']""")  # by a script


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PACKAGES = ["mha_lib", *sorted(LODGERS)]
MODULES = {name_of(file): file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))}


@cache
def imported_by(module: str) -> frozenset[str]:
    """The modules of these packages that a module imports, at its top, in functions or for types."""
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


def may_import(module: str, other: str) -> bool:
    package, others = module.split(".")[0], other.split(".")[0]
    if package in LODGERS or others in LODGERS:  # of a lodger, others see only what it offers
        return package == others or (package == "mha_lib" and bool(room_of(module)) and other == others)
    room, beneath = room_of(module), room_of(other)
    return room == beneath or not beneath or (bool(room) and ROOMS.index(beneath) < ROOMS.index(room))


def test_every_room_has_its_walls():
    folder = LIBRARY / "classroom"
    files = {file.stem for file in folder.glob("*.py")}
    folders = {path.name for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert files | folders == {*ROOMS} | WITHOUT_PYTHON


@pytest.mark.parametrize("module", MODULES)
def test_imports_run_one_way(module):
    beyond = sorted(other for other in imported_by(module) if not may_import(module, other))
    assert not beyond, f"{module} may not import {', '.join(beyond)}"


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
        for other in imported:
            assert other.is_file(), f"{file} imports {other}"
            allowed = SCRIPTS_MAY_IMPORT.get(folder_of(file), set()) | {folder_of(file)}
            assert folder_of(other) in allowed, f"{file} may not import {other}"


def folder_of(script: Path) -> str:
    """The room of a script; of one for Jupyter, the folder in that room."""
    room, *inner = script.relative_to(LIBRARY / "classroom").parts
    return inner[0] if room == "jupyter" else room


def test_no_test_imports_from_a_file_of_tests():
    """What several files of tests use stands in a module of its own."""
    for file in Path(__file__).parent.rglob("*.py"):
        imports = re.findall(
            r"^from tests\.(?:\w+\.)*test_\w+ import", file.read_text(encoding="utf-8"), re.M
        )
        assert not imports, f"{file}: {', '.join(imports)}"
