"""The live heatmap explorer: Python computes attention weights, the browser draws them.

``controls.py`` reads the arguments of ``explore``, ``table.py`` computes the pictures, ``widget.py`` carries
them to the browser, and the JavaScript in ``view/`` draws them. ``typed_text.py`` lets a reader
type a text, in a page too.
"""

from mha_lib.classroom.explorer.table import Picture
from mha_lib.classroom.explorer.typed_text import NotUnderstood, TypedText
from mha_lib.classroom.explorer.widget import Explorer, explore

__all__ = ["Explorer", "NotUnderstood", "Picture", "TypedText", "explore"]
