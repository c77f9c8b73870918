"""A passed assert says so: a cell that succeeds prints ``✓`` and the message of each of its asserts.

Python says nothing when an assert holds, and its message only when it does not. In a lesson the message is
what was to be learnt, so it is said then. An assert without a message, and a comparison by
``torch.testing.assert_close``, give a ✓ alone.
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
        return [node, self.report(node, node.msg or ast.Constant(""))]

    def visit_Expr(self, node: ast.Expr) -> Any:
        call = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(call, ast.Attribute) and call.attr in CALLS:
            return [node, self.report(node, ast.Constant(""))]
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def report(self, node: ast.stmt, message: ast.expr) -> ast.stmt:
        call = ast.Call(ast.Name(NAME, ast.Load()), [message], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))


def say_what_passes(shell: Any) -> None:
    """Let every cell of the shell that succeeds say what its asserts have shown, each message once."""
    passed: dict[str, None] = {}

    def report(result: SimpleNamespace) -> None:
        if result.success:
            messages = [message for message in passed if message] or list(passed)
            for message in messages:
                print(f"{GREEN}✓{PLAIN} {message}".rstrip())
        passed.clear()

    shell.push({NAME: lambda message: passed.setdefault(str(message))}, interactive=False)
    shell.ast_transformers.append(Reporter())
    shell.events.register("post_run_cell", report)
