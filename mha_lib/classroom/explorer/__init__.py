"""The live heatmap explorer: Python computes attention weights, the browser draws them."""

from mha_lib.classroom.explorer.widget import explore

__all__ = ["explore"]
