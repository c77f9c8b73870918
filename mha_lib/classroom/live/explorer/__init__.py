"""The live heatmap explorer: Python computes attention weights, the browser draws them.

``controls.py`` reads the arguments of ``explore``, ``table.py`` computes the pictures, ``widget.py`` carries
them to the browser, and the JavaScript in ``view/`` draws them.
"""

from mha_lib.classroom.live.explorer.widget import Explorer, explore

__all__ = ["Explorer", "explore"]
