"""A passed assert says so: a cell that succeeds prints ``✓`` and the message of each of its asserts.

Python says nothing when an assert holds, and its message only when it does not. In a lesson the message is
what was to be learnt, so it is said then. Where no assert of a cell has a message, the cell says what holds,
as its code has it; a comparison by ``torch.testing.assert_close`` is such an assert.
"""

import ast
from types import SimpleNamespace
from typing import Any

GREEN, PLAIN = "\x1b[32m", "\x1b[39m"
NAME = "__has_passed__"  # in the lesson's names, of what an assert calls
CALLS = ("assert_close", "assert_allclose")


class Reporter(ast.NodeTransformer):
    """After each assert of a cell a call with its message. Functions are left alone: others call them."""

    def visit_Assert(self, node: ast.Assert) -> Any:
        return [node, self.report(node, ast.unparse(node.test), node.msg)]

    def visit_Expr(self, node: ast.Expr) -> Any:
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            return node
        if call.func.attr not in CALLS:
            return node
        compared = " ≈ ".join(ast.unparse(argument) for argument in call.args[:2])
        return [node, self.report(node, compared or ast.unparse(call))]

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def report(self, node: ast.stmt, fact: str, message: ast.expr | None = None) -> ast.stmt:
        said = [ast.Constant(fact), *([message] if message else [])]
        call = ast.Call(ast.Name(NAME, ast.Load()), said, [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))


def say_what_passes(shell: Any) -> None:
    """Let every cell of the shell that succeeds say what its asserts have shown, each message once."""
    passed: dict[str, bool] = {}  # whether it is a message

    def report(result: SimpleNamespace) -> None:
        if result.success:
            messages = [text for text, is_message in passed.items() if is_message]
            for text in messages or passed:
                print(f"{GREEN}✓{PLAIN} {text}")
        passed.clear()

    def note(fact: str, message: object = None) -> None:
        passed[fact if message is None else str(message)] = message is not None

    shell.push({NAME: note}, interactive=False)
    shell.ast_transformers.append(Reporter())
    shell.events.register("post_run_cell", report)
