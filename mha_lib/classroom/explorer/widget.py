"""The explorer as a widget: it carries a table of pictures to the browser, where ``view/`` draws them."""

import inspect
import json
import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

from matplotlib.figure import Figure
from traitlets import Bool, Dict, Int, List, Unicode

from mha_lib.classroom import look
from mha_lib.classroom.explorer.cell_widget import CellWidget
from mha_lib.classroom.explorer.controls import Control, describe_inputs, make_control
from mha_lib.classroom.explorer.table import Labels, Source, compute_answer, compute_table
from mha_lib.classroom.lesson.language import words_here
from mha_lib.classroom.lesson.outputs import FOR_A_PAGE
from mha_lib.classroom.pictures.grammar import kind_of_axis
from mha_lib.classroom.pictures.plots import show_heads, show_overview
from mha_lib.classroom.pictures.theme import alt_of, to_svg
from mha_lib.classroom.pictures.weights import as_weights
from torch_in_page import PageFunction, joined

LONGEST_LABEL = 16  # letters, in a still picture
FOLDER = Path(__file__).with_name("view")
PARTS = (
    "decode",
    "elements",
    "words",
    "layout",
    "grid",
    "inputs",
    "paint",
    "own_keys",
    "in_page",
    "pointing",
    "arcs",
    "arcs_view",
    "view",
)  # in this order
# The look is set on the explorer alone: it must not replace colours of the page around it.
STYLE = look.for_older(
    look.CSS.replace(":root", ".mha-explorer") + (FOLDER / "view.css").read_text(encoding="utf-8")
)


class Arcs(TypedDict, total=False):
    """How an explorer draws arcs: see ``explore``."""

    query: int
    steps: str
    layers: int
    heads: str


def explore(
    weights_of: Callable,
    /,
    *,
    query_labels: Labels = None,
    key_labels: Labels = None,
    xlabel: str | None = None,
    ylabel: str | None = None,
    in_page: Callable[[], PageFunction] | None = None,
    arcs: Arcs | None = None,
    **controls: Any,
) -> "Explorer":
    """Heatmaps of ``weights_of(**settings)``, one for each head, that follow the ``controls``.

    ``weights_of`` returns weights (Q,K), (H,Q,K) or (B,H,Q,K), or ``(weights, mask)`` with a boolean mask,
    True = may attend: (Q,K), (B,Q,K), (B,1,K) or (B,H,Q,K). The same settings must give the same weights.
    Boolean weights are shown as a mask. Where ``query_labels`` is ``key_labels``, a mask that is the same for
    all queries, such as (B,1,K), says where the padding begins.
    A ``Picture`` in their place also names the heads, and measures them.

    A range or a list of numbers makes a slider that rises, a list of ranges a vector with one slider for each
    entry, a list of anything else a choice, a dict a choice by label, a bool a switch, a str a text box.
    The first setting is that of the defaults in the signature of ``weights_of``, or else the first values.

    Labels are a list, a list of lists (one a sample), or a function that is called as ``weights_of`` is. A
    ``Picture`` may have them instead.
    ``xlabel`` and ``ylabel`` name the axes where they aren't keys and queries, in the singular, such as
    ``"distance"`` and ``"head"``: the sentences about a cell use them. Such numbers are no weights, and
    are neutral instead of in viridis.
    ``in_page`` returns a function that computes the same in a handout, which has no kernel: its script gets
    the settings by name, and answers ``{shape: [H, Q, K], weights, mask, queryLabels, keyLabels}``, or throws
    an error to show. It is called only where the outputs become a page, since ``torch.export`` takes seconds.

    Where queries and keys have labels, V changes between the map and the arcs: tokens in a row (two, if
    queries and keys differ), and an arc for each weight, as thick as it is large. With ``arcs`` these are
    shown first: ``{}``, or a dict of what follows. The arcs of ``query`` are in colour; Space goes to the
    next query, and the arcs before it stay in grey. ``steps`` names a control through whose values Space goes
    instead: then the arcs of ``query`` are alone, or without ``query`` those of all queries. ``layers`` says
    that the heads (H,Q,K) are those of so many layers, one layer after the other: they are named layer.head,
    and are nodes on streams. ``heads`` names a control ``[range(2)] * H``, in which 0 means off: a click on a
    node turns its head off. The ``bars`` of a ``Picture`` are drawn beside the arcs.
    A cell shows the explorer it ends with; ``settings`` and ``weights`` hand its state to the next cell.
    """
    defaults = {name: p.default for name, p in inspect.signature(weights_of).parameters.items()}
    empty = inspect.Parameter.empty
    made = [make_control(name, given, defaults.get(name, empty)) for name, given in controls.items()]
    given_arcs = arcs or {}
    if unknown := given_arcs.keys() - Arcs.__annotations__:
        raise ValueError(f"arcs may have {sorted(Arcs.__annotations__)}, got {sorted(unknown)}")
    layers, steps = given_arcs.get("layers", 1), given_arcs.get("steps")
    source = Source(weights_of, made, {"query_labels": query_labels, "key_labels": key_labels}, layers)
    are_numbers = bool(xlabel or ylabel)
    entries = {
        "layers": layers,
        "steps": entry_of("steps", steps, made),
        "heads": entry_of("heads", given_arcs.get("heads"), made),
    }
    return Explorer(
        source,
        words_with(xlabel, ylabel),
        page=page_with(in_page, made),
        of_numbers=are_numbers,
        arcs={} if are_numbers else entries,
        view="map" if arcs is None else "arcs",
        query=given_arcs.get("query", 0 if steps is None and layers == 1 else -1),
    )


def entry_of(argument: str, name: str | None, controls: list[Control]) -> int:
    """The place, in the setting, of the first entry of the control of this name; -1 for None."""
    at = 0
    for control in controls:
        if control.name == name:
            return at
        at += len(control.options)
    if name is None:
        return -1
    names = [control.name for control in controls]
    raise ValueError(f"arcs: {argument} must be the name of a control, got {name!r}; controls: {names}")


def page_with(in_page: Callable[[], PageFunction] | None, controls: list[Control]) -> dict[str, Any]:
    """What a page needs to compute: the function, and the arguments that a setting stands for."""
    if in_page is None or not os.environ.get(FOR_A_PAGE):
        return {}
    arguments = [{"name": c.name, "options": c.options, "is_vector": c.is_vector} for c in controls]
    try:
        json.dumps(arguments)
    except TypeError:
        raise TypeError("in_page takes settings that JSON can hold: numbers, texts, True and False") from None
    return in_page().as_dict() | {"arguments": arguments}


def words_with(xlabel: str | None, ylabel: str | None) -> dict[str, Any]:
    """The explorer's sentences, about axes of these names."""
    words = words_here()["explorer"]
    own = words["own_axes"] if xlabel or ylabel else {}
    names = {"queries": ylabel or words["queries"], "keys": xlabel or words["keys"]}
    kinds = {"query_kind": kind_of_axis(names["queries"]), "key_kind": kind_of_axis(names["keys"])}
    return words | own | names | kinds


def read_module(*scripts: Path) -> str:
    """Scripts as one module without imports, as anywidget and handouts need it."""
    module = joined(scripts)
    return module.encode("ascii", "backslashreplace").decode()  # or else a browser takes two bytes a letter


class Explorer(CellWidget):
    """The widget that ``explore`` returns. Its traits hold all that it shows: a handout needs no kernel."""

    _esm = read_module(*(FOLDER / f"{part}.js" for part in PARTS))
    _css = STYLE
    words = Dict().tag(sync=True)  # its sentences, in the language of the lesson
    controls: List = List().tag(sync=True)  # the inputs
    setting: List = List().tag(sync=True)  # the state of the controls
    table = Dict().tag(sync=True)  # a Table with the pictures that were computed ahead
    answer = Dict().tag(sync=True)  # a Table with the picture that was last computed on demand
    page = Dict().tag(sync=True)  # what a page without a kernel computes by; empty if it can't
    sample = Int(0).tag(sync=True)
    enlarged = Int(-1).tag(sync=True)  # the head that fills the picture; -1: all of them
    to_max = Bool(False).tag(sync=True)  # the scale ends at the largest weight instead of at 1
    by_root = Bool(False).tag(sync=True)  # colours follow the square root, so that small weights differ
    of_numbers = Bool(False).tag(sync=True)  # the maps hold other numbers than weights
    measure = Int(0).tag(sync=True)  # the one beside each head, by its place among those of the first picture
    arcs = Dict().tag(sync=True)  # layers, and the entries of the setting that step and turn heads off
    view = Unicode("map").tag(sync=True)  # "map" or "arcs"
    query = Int(0).tag(sync=True)  # the one whose arcs are in colour; -1: all of them
    order = Int(0).tag(sync=True)  # of the heads: 0 as they come, 1 highest measure first, 2 lowest first

    def __init__(
        self,
        source: Source,
        words: dict[str, Any] | None = None,
        page: dict[str, Any] | None = None,
        *,
        of_numbers: bool = False,
        arcs: dict[str, int] | None = None,
        view: str = "map",
        query: int = 0,
        **budget: Any,
    ):
        self._source = source
        table = compute_table(source, **budget)
        self._known = {entry["setting"] for entry in table.directory}
        self.table = vars(table)
        self.page = page or {}
        self.of_numbers = of_numbers
        self.arcs, self.view, self.query = arcs or {}, view, query
        self.setting = list(source.start)
        self.words = words or words_with(None, None)
        samples = len(table.directory[0]["at"])
        self.controls = describe_inputs(
            source.controls,
            samples,
            self.words,
            of_masks=table.of_masks,
            measures=list(table.directory[0].get("measures", {})),
        )
        super().__init__()  # last, so that an error above leaves no half-made widget in the browser
        self.observe(self._answer, "setting")

    @property
    def settings(self) -> dict[str, Any]:
        """The current arguments of ``weights_of``."""
        return self._source.arguments(tuple(self.setting))

    @property
    def weights(self) -> Any:
        """The weights that ``weights_of`` gives for ``settings``, in full precision, without the mask."""
        return self._source.result_at(tuple(self.setting)).weights

    def __repr__(self) -> str:
        """The text in its place on a page that runs no widgets, such as an untrusted notebook."""
        return words_here()["explorer"]["not_alive"]

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The view, and for a page a still picture: it is shown until a script brings the view alive."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        if os.environ.get(FOR_A_PAGE):
            still = self._still()
            data["image/svg+xml"], metadata["image/svg+xml"] = to_svg(still), {"alt": alt_of(still)}
        return data, metadata

    def _still(self) -> Figure:
        """The first picture as a figure."""
        picture, entry = self._source.result_at(self._source.start), self.table["directory"][0]
        maps, allowed = as_weights(picture.weights, picture.mask)
        if of_all := picture.overview:
            return show_overview(maps[0], of_all.rows, of_all.columns, of_all.corner)

        def labels_of(name: str) -> list[str] | None:
            labels = None if entry[name] is None else self.table["labels"][entry[name]][0]
            return labels and [textwrap.shorten(label, LONGEST_LABEL, placeholder="…") for label in labels]

        return show_heads(
            maps[:1],
            None if allowed is None else allowed[:1],
            query_labels=labels_of("query_labels"),
            key_labels=labels_of("key_labels"),
            head_labels=picture.head_labels,
            ylabel=self.words["queries"] if self.of_numbers else "",
            xlabel=self.words["keys"] if self.of_numbers else "",
        )

    def _answer(self, change: Any) -> None:
        """Compute the picture that the browser now needs if the table lacks it."""
        if (setting := tuple(self.setting)) not in self._known:
            self.answer = vars(compute_answer(self._source, setting))

    def close(self) -> None:
        # JupyterLab keeps the state of a closed widget, and the one before: leave nothing large in it.
        self.table, self.answer, self.words, self.page = {}, {}, {}, {}
        super().close()
        self._source.result_at.cache_clear()  # IPython's Out may keep the explorer itself
