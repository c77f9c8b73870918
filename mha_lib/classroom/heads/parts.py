"""The parts of a model through which its heads write, found by what each is called with in one run."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn

from mha_lib.classroom.heads.attention import Layer, watched
from mha_lib.classroom.heads.shares import through_norm


def own_modules(model: nn.Module, layers: Sequence[Layer]) -> list[nn.Module]:
    """The module of each layer; raises ValueError unless each layer has one of its own."""
    modules = [layer.module for layer in layers if layer.module is not None]
    if len({*modules}) < len(layers):
        raise ValueError(
            f"each layer of {type(model).__name__} must ask the AttentionInterface of transformers for its "
            f"attention, and have a module of its own; {len({*modules})} of {len(layers)} do"
        )
    return modules


def first(output: Any) -> Any:
    """The stream in the output of a layer, which may hold other things behind it."""
    return output if isinstance(output, Tensor) else output[0]


def same(one: Any, other: Any) -> bool:
    both = isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape == other.shape
    return both and torch.equal(one, other)


class Trace:
    """The tensors that the modules of a model take and return in one run, and what its heads compute."""

    @torch.no_grad()
    def __init__(self, model: nn.Module, arguments: Mapping[str, Any]):
        self.model = model
        self.given: dict[nn.Module, Tensor] = {}
        self.returned: dict[nn.Module, Tensor] = {}
        self.heads: dict[nn.Module, Tensor] = {}  # of an attention module, (B, Q, H, d)

        def note(part: nn.Module, given: Any, options: Any, output: Any) -> None:
            tensors = [value for value in (*given, *options.values()) if isinstance(value, Tensor)]
            if tensors and isinstance(first(output), Tensor):
                self.given[part], self.returned[part] = tensors[0], first(output).clone()

        def note_heads(module: nn.Module, outputs: Tensor, _: Tensor) -> Tensor:
            self.heads[module] = outputs.clone()
            return outputs

        handles = [part.register_forward_hook(note, with_kwargs=True) for part in model.modules()]
        try:
            with watched(model, outputs=note_heads):
                model(**arguments)
        finally:
            for handle in handles:
                handle.remove()

    def block(self, module: nn.Module) -> tuple[nn.Module, nn.ModuleList] | None:
        """The nearest part around a module that stands in a list of layers, its layer; and the list."""
        path = next(name for name, part in self.model.named_modules() if part is module).split(".")
        for end in range(len(path), 0, -1):
            layers = self.model.get_submodule(".".join(path[: end - 1]))
            if isinstance(layers, nn.ModuleList):
                return self.model.get_submodule(".".join(path[:end])), layers
        return None

    def projection(self, module: nn.Module) -> tuple[nn.Module, Tensor] | None:
        """The part that is called with the concatenated heads, and its matrix by heads, (H, d, D)."""
        concatenated = self.heads[module].flatten(2)  # (B, Q, H·d)
        for part, given in self.given.items():
            weight = getattr(part, "weight", None)
            if isinstance(weight, Tensor) and weight.dim() == 2 and same(given, concatenated):
                inward = weight.T if isinstance(part, nn.Linear) else weight  # GPT-2's Conv1D: (H·d, D)
                return part, inward.detach().unflatten(0, self.heads[module].shape[2:])
        return None

    def writers(self, block: nn.Module) -> list[nn.Module]:
        """The parts of a layer whose outputs, added to the stream, are the layer's output; [] if none are.

        A part that returns what it is given, such as dropout, is none of them.
        """
        if block not in self.returned or self.given[block].shape != self.returned[block].shape:
            return []
        before, after = self.given[block], self.returned[block]
        written = {
            part: returned.reshape(after.shape)
            for part in block.children()
            if (returned := self.returned.get(part)) is not None
            and returned.numel() == after.numel()
            and not same(self.given[part], returned)
        }
        for count in (1, 2, 3):
            for chosen in combinations(written, count):
                total = torch.stack([before, *(written[part] for part in chosen)]).sum(0)
                if float((total - after).abs().max()) <= rounding_of(after):
                    return [*chosen]
        return []

    def attention_in(self, block: nn.Module, module: nn.Module) -> nn.Module | None:
        """The child of a layer that holds its attention module."""
        return next((part for part in block.children() if module in {*part.modules()}), None)

    def networks(self, block: nn.Module, module: nn.Module) -> list[nn.Module]:
        """The parts of a layer that write to the stream and read something else than its attention.

        Where the layer is not a sum of its parts, its part called ``mlp``, if there is one.
        """
        attention = self.attention_in(block, module)
        written = self.returned.get(attention) if attention else None
        found = [
            part
            for part in self.writers(block)
            if part is not attention and not same(self.given[part], written)
        ]
        named = getattr(block, "mlp", None)
        return found or ([named] if isinstance(named, nn.Module) else [])

    def last_norm(self, modules: Sequence[nn.Module]) -> nn.Module | None:
        """The norm between the stream of the last layer and the output embeddings; None if there is none.

        It must be an RMSNorm or a LayerNorm, whatever its class is called.
        """
        head = getattr(self.model, "get_output_embeddings", lambda: None)()
        found = self.block(modules[-1])
        if found is None or head not in self.given or found[1][-1] not in self.returned:
            return None
        stream, read = self.returned[found[1][-1]], self.given[head]
        for part, returned in self.returned.items():
            if not (same(self.given[part], stream) and same(returned, read) and hasattr(part, "weight")):
                continue
            normed = through_norm(stream.float(), stream.float(), part)
            bias = getattr(part, "bias", None)
            normed = normed if bias is None else normed + bias
            if float((normed - returned).abs().max()) <= rounding_of(returned):
                return part
        return None

    def obstacle(self, modules: Sequence[nn.Module]) -> str:
        """Why heads of these modules do not write straight into logits: the name of a reason, or ""."""
        if self.last_norm(modules) is None:
            return "no_norm"
        blocks = [found for module in modules if (found := self.block(module))]
        layers = blocks[-1][1]
        if len(blocks) < len(modules) or any(each is not layers for _, each in blocks):
            return "no_stream"
        for module, (block, _) in zip(modules, blocks, strict=True):
            attention, projection = self.attention_in(block, module), self.projection(module)
            if attention not in self.writers(block) or projection is None:
                return "no_stream"
            if not same(self.returned[projection[0]], self.returned[attention]):
                return "no_stream"
        return "" if all(self.writers(block) for block in layers) else "no_stream"


def rounding_of(x: Tensor) -> float:
    """The difference by which two ways to compute a stream may differ in its precision."""
    return 16 * torch.finfo(x.dtype).eps * float(x.abs().max())
