"""The live heatmap explorer: Python computes attention weights, the browser draws them.

``controls.py`` says what the arguments of ``explore`` mean, ``table.py`` computes the pictures,
``widget.py`` carries them to the browser, and the JavaScript in ``view/`` draws them.
"""

from mha_lib.classroom.live.explorer.widget import Explorer, drive, explore

__all__ = ["Explorer", "drive", "explore"]
