"""The heads of any model of ``transformers``, to be looked at in the explorer.

``reading.py`` runs a copy of a model and takes its weights, ``measures.py`` measures its heads, ``tokens.py``
finds the labels, ``explore.py`` gives all of it to the explorer as arrays, ``save.py`` writes it as a page,
and ``load.py`` is the only place in this project that fetches a model. ``transformers`` is in the extra
``[models]``, and imported only when ``explore_model`` loads a model or reads one of its own.
"""

from mha_lib.classroom.models.explore import explore_model

__all__ = ["explore_model"]
