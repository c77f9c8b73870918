"""Write the graph that PyTorch recorded as the interpreter reads it."""

import math
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node

from torch_in_page.operations import KNOWN, NAMES
from torch_in_page.program import (
    DTYPES,
    PageProgram,
    Weight,
    names_of_leaves,
)

# Arguments that the dtype of the result says too, or that mean nothing in a page.
LEFT_OUT = {"dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking", "implicit"}
COMPUTES_NOTHING = {
    torch.ops.aten._assert_scalar.default,
    torch.ops.aten._assert_tensor_metadata.default,
    torch.ops.aten.sym_constrain_range.default,
    torch.ops.aten.sym_constrain_range_for_size.default,
}


class Writer:
    """Writes one recorded graph, whose dead and equal parts it removes."""

    def __init__(self, recorded: ExportedProgram, names: list[str]):
        self.recorded, self.graph = recorded, recorded.graph
        placeholders = self.graph.find_nodes(op="placeholder")
        self.specs = dict(zip(placeholders, recorded.graph_signature.input_specs, strict=True))
        inputs = [node for node, spec in self.specs.items() if spec.kind is InputKind.USER_INPUT]
        self.inputs = dict(zip(names, inputs, strict=True))
        self.remove_needless()
        self.constants = self.merged_constants()
        # How the value of each node is written.
        self.written: dict[Node, str] = {}
        self.nodes: list[list[Any]] = []
        self.count = 0

    def remove_needless(self) -> None:
        for node in self.graph.nodes:
            if node.target in COMPUTES_NOTHING:
                self.graph.erase_node(node)
        self.graph.eliminate_dead_code()

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
            inputs=[{"name": name, "dtype": dtype_of(node)} for name, node in self.inputs.items()],
            nodes=self.nodes,
            outputs=self.outputs(),
            weights=[Weight.of(tensor) for tensor in self.constants.values()],
            graph=self.graph,
        )

    def next_value(self) -> str:
        self.count += 1
        return f"${self.count - 1}"

    def write(self, node: Node) -> None:
        name = NAMES.get(node.target)
        dtype = dtype_of(node)
        if name is None:
            raise NotImplementedError(f"the page does not know {node.target}; it knows {', '.join(KNOWN)}")
        self.nodes.append([name, dtype, *map(self.argument, arguments_of(node))])
        self.written[node] = self.next_value()

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


def dtype_of(node: Node) -> Any:
    """The dtype of what a node gives; a list if it gives several, None for a length."""

    def written(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [written(part) for part in value]
        if not isinstance(value, Tensor):
            return None
        if value.dtype not in DTYPES:
            raise NotImplementedError(
                f"the page does not know {value.dtype}; it knows {', '.join(DTYPES.values())}"
            )
        return DTYPES[value.dtype]

    return written(node.meta.get("val"))
