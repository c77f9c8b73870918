"""Write the graph that PyTorch recorded as the interpreter reads it."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node

from torch_in_page.operations import KNOWN, NAMES, WITH_NUMBERS
from torch_in_page.program import (
    DTYPES,
    EXACT_IN_FLOAT64,
    PageProgram,
    Weight,
    names_of_leaves,
)

Dynamic = Mapping[str, Mapping[int, str]]
NOT_THE_CALLERS = (str(Path(torch.__file__).parent), str(Path(__file__).parent))
# Arguments that the dtype of the result says too, or that mean nothing in a page.
LEFT_OUT = {"dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking", "implicit"}
CHECK = torch.ops.aten._assert_scalar.default
COMPUTES_NOTHING = {
    torch.ops.aten._assert_tensor_metadata.default,
    torch.ops.aten.sym_constrain_range.default,
    torch.ops.aten.sym_constrain_range_for_size.default,
}
FRAME = re.compile(r'File "(.*?)", line (\d+), in .*\n\s*(.*)')


class Writer:
    """Writes one recorded graph, whose dead and equal parts it removes."""

    def __init__(self, recorded: ExportedProgram, names: list[str], dynamic: Dynamic):
        self.recorded, self.graph, self.dynamic = recorded, recorded.graph, dynamic
        placeholders = self.graph.find_nodes(op="placeholder")
        self.specs = dict(zip(placeholders, recorded.graph_signature.input_specs, strict=True))
        inputs = [node for node, spec in self.specs.items() if spec.kind is InputKind.USER_INPUT]
        self.inputs = dict(zip(names, inputs, strict=True))
        self.symbols = {  # what PyTorch calls the lengths
            self.inputs[name].meta["val"].shape[axis].node.expr: length
            for name, axes in dynamic.items()
            for axis, length in axes.items()
        }
        self.remove_needless()
        self.constants = self.merged_constants()
        # How the value of each node is written.
        self.written: dict[Node, str] = {}
        self.nodes: list[list[Any]] = []
        self.count = 0

    def remove_needless(self) -> None:
        """Remove what computes nothing, and conditions that hold always or stand there already."""
        known = {"True"}
        for node in self.graph.nodes:
            expression = self.condition(node) if node.target is CHECK else None
            if node.target in COMPUTES_NOTHING or expression in known:
                self.graph.erase_node(node)
            elif expression:
                known.add(expression)
        self.graph.eliminate_dead_code()

    def condition(self, check: Node) -> str:
        """The condition between lengths, with their names, such as ``Eq(Min(A, 2*B), A)``."""
        holds: Any = check.args[0]
        if not isinstance(holds, Node):
            return str(holds)
        # As symbols, since N or S as text would be functions of sympy.
        named = {symbol: type(symbol)(name) for symbol, name in self.symbols.items()}
        return str(holds.meta["val"].node.expr.subs(named))

    def merged_constants(self) -> dict[Node, Tensor]:
        """Return the constants that are used; those that are one tensor become one node."""
        known = {**self.recorded.state_dict, **self.recorded.constants}
        first: dict[Any, Node] = {}
        constants: dict[Node, Tensor] = {}
        for node, spec in self.specs.items():
            if node in self.inputs.values():
                continue
            tensor = known[str(spec.target)]
            if node.users:
                key = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
                node.replace_all_uses_with(first.setdefault(key, node))
            if node.users:
                constants[node] = tensor
            else:
                self.graph.erase_node(node)
        return constants

    def program(self) -> PageProgram:
        for node in (*self.inputs.values(), *self.constants):
            dtype_of(node)
            self.written[node] = self.next_value()
        for node in self.graph.nodes:
            if node.op == "call_function":
                self.write(node)
        return PageProgram(
            inputs=[self.described(name, node) for name, node in self.inputs.items()],
            lengths=self.lengths(),
            nodes=self.nodes,
            outputs=self.outputs(),
            weights=[Weight.of(tensor) for tensor in self.constants.values()],
            graph=self.graph,
        )

    def next_value(self) -> str:
        self.count += 1
        return f"${self.count - 1}"

    def described(self, name: str, node: Node) -> dict[str, Any]:
        axes = self.dynamic.get(name, {})
        shape = [axes.get(axis, size) for axis, size in enumerate(node.meta["val"].shape)]
        return {"name": name, "dtype": dtype_of(node), "shape": shape}

    def lengths(self) -> dict[str, tuple[int, int | None]]:
        """The smallest and the largest of each length; ``torch.export`` is sure only of 2 and more."""
        lengths = {}
        for symbol, name in self.symbols.items():
            limits = self.recorded.range_constraints[symbol]
            largest = int(limits.upper) if limits.upper < EXACT_IN_FLOAT64 else None
            lengths[name] = (max(2, int(limits.lower)), largest)
        return lengths

    def write(self, node: Node) -> None:
        name = NAMES.get(node.target)
        dtype = dtype_of(node)
        if name is None:
            raise NotImplementedError(
                f"the page does not know {node.target}, which is computed in {line_of(node)}; it knows "
                + ", ".join(KNOWN)
            )
        arguments = arguments_of(node)
        if node.target is CHECK:
            arguments = [arguments[0], self.condition(node)]
        if name in WITH_NUMBERS:
            arguments = [self.as_computed(part, common_dtype(name, node)) for part in arguments]
        self.nodes.append([name, dtype, *map(self.argument, arguments)])
        self.written[node] = self.next_value()

    def as_computed(self, part: Any, dtype: torch.dtype) -> Any:
        """A number or a float64 beside a float32 becomes a float32."""
        if dtype != torch.float32:
            return part
        if isinstance(part, float):
            return torch.tensor(part, dtype=dtype).item()
        if isinstance(part, Node) and dtype_of(part) == "float64":
            self.nodes.append(["cast", "float32", self.written[part]])
            return self.next_value()
        return part

    def argument(self, part: Any) -> Any:
        if isinstance(part, Node):
            return self.written[part]
        if isinstance(part, (list, tuple)):
            return [self.argument(inner) for inner in part]
        if isinstance(part, float) and not math.isfinite(part):
            return "NaN" if math.isnan(part) else "Infinity" if part > 0 else "-Infinity"
        return part

    def outputs(self) -> dict[str, str]:
        kinds = self.recorded.graph_signature.output_specs
        changed = [spec.target for spec in kinds if spec.kind is not OutputKind.USER_OUTPUT]
        if changed:
            raise NotImplementedError(
                f"the function writes into {', '.join(map(str, changed))}, which a page can't keep; "
                "write into a clone"
            )
        names = names_of_leaves(self.recorded.call_spec.out_spec)
        nodes = self.graph.output_node().args[0]
        for name, node in zip(names, nodes, strict=True):
            if not isinstance(node, Node) or not isinstance(node.meta["val"], Tensor):
                raise NotImplementedError(f"every output must be a tensor, got {node} as {name}")
        return {name: self.written[node] for name, node in zip(names, nodes, strict=True)}


def arguments_of(node: Node) -> list[Any]:
    """The arguments that the interpreter gets: in PyTorch's order, without the last ones if not given."""
    if not isinstance(node.target, OpOverload):
        return list(node.args)
    known = [x for x in node.target._schema.arguments if x.name not in LEFT_OUT]
    places = {x.name: place for place, x in enumerate(node.target._schema.arguments)}

    def given(x: Any) -> Any:
        place = places[x.name]
        return node.args[place] if place < len(node.args) else node.kwargs.get(x.name, x.default_value)

    arguments = [given(x) for x in known]
    while arguments and known[len(arguments) - 1].has_default_value():
        if arguments[-1] != known[len(arguments) - 1].default_value:
            break
        arguments.pop()
    return arguments


def common_dtype(name: str, node: Node) -> torch.dtype:
    """The dtype that PyTorch computes in."""
    if name not in ("le", "ge"):
        return node.meta["val"].dtype
    sides: Any = [part.meta["val"] if isinstance(part, Node) else part for part in node.args]
    return torch.result_type(*sides)


def dtype_of(node: Node) -> Any:
    """The dtype of what a node gives; a list if it gives several, None for a length."""

    def written(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [written(part) for part in value]
        if not isinstance(value, Tensor):
            return None
        if value.dtype not in DTYPES:
            raise NotImplementedError(
                f"the page does not know {value.dtype}, which is computed in {line_of(node)}; it knows "
                + ", ".join(DTYPES.values())
            )
        return DTYPES[value.dtype]

    return written(node.meta.get("val"))


def line_of(node: Node) -> str:
    """The line of the caller's code that made a node."""
    frames = FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if not frame[0].startswith(NOT_THE_CALLERS)]
    if not own:
        return "a line that PyTorch does not name"
    file, line, code = own[-1]
    return f"line {line} of {Path(file).name}: {code.strip()}"
