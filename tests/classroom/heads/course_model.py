"""A language model as the course builds it, of layers that a test makes."""

from torch import nn


class CourseModel(nn.Module):
    def __init__(self, table, layers, norm):
        super().__init__()
        self.table, self.layers, self.norm = table, nn.ModuleList(layers), norm
        self.eval()

    def forward(self, tokens, head_masks=None):
        x = self.table(tokens)
        for layer, head_mask in zip(self.layers, head_masks or [None] * len(self.layers), strict=True):
            x = layer(x, is_causal=True, head_mask=head_mask)
        return self.norm(x) @ self.table.weight.T
