"""Ticks for asserts that pass: a cell that succeeds prints ``✓`` and the message of each of its asserts.

Python prints an assert's message only when it fails. In a lesson the message is what was to be learnt, so a
cell prints it when the assert passes. If no assert of a cell has a message, the cell prints the conditions
themselves, as its code has them. A comparison by ``torch.testing.assert_close`` counts as an assert.
"""

import ast
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

GREEN, PLAIN = "\x1b[32m", "\x1b[39m"
NAME = "__has_passed__"  # the function that is called after each assert, among the lesson's names


class Marker(ast.NodeTransformer):
    """Adds a call with the message after each assert of a cell, but not in its functions and classes."""

    def __init__(self, note: Callable[..., None]) -> None:
        self.note = note  # the function that is called

    def visit_Assert(self, node: ast.Assert) -> Any:
        return [node, self.mark(node, ast.unparse(node.test), node.msg)]

    def visit_Expr(self, node: ast.Expr) -> Any:
        match node.value:
            case ast.Call(ast.Attribute(attr="assert_close" | "assert_allclose"), compared):
                fact = " ≈ ".join(ast.unparse(argument) for argument in compared[:2])
                return [node, self.mark(node, fact or ast.unparse(node))]
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def mark(self, node: ast.stmt, fact: str, message: ast.expr | None = None) -> ast.stmt:
        arguments = [ast.Constant(fact), *([message] if message else [])]
        call = ast.Call(ast.Name(NAME, ast.Load()), arguments, [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))


def show_passed_asserts(shell: Any) -> None:
    """Let every cell of the shell that succeeds print its passed asserts, each message once."""
    for marker in shell.ast_transformers:
        if isinstance(marker, Marker):  # a second one would print everything twice
            return shell.push({NAME: marker.note}, interactive=False)
    passed: dict[str, bool] = {}  # each text, and whether it is a message

    def show(result: SimpleNamespace) -> None:
        if result.success:
            messages = [text for text, is_message in passed.items() if is_message]
            for text in messages or passed:
                print(f"{GREEN}✓{PLAIN} {text}")
        passed.clear()

    def note(fact: str, message: object = None) -> None:
        passed[fact if message is None else str(message)] = message is not None

    shell.push({NAME: note}, interactive=False)
    shell.ast_transformers.append(Marker(note))
    shell.events.register("post_run_cell", show)
