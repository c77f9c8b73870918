"""Widgets without a kernel: alive, or said to be missing."""

from tests.offline_notebook.pages import PIXEL, VIEW, Shown, shown, stored


def test_without_javascript_a_widget_says_that_it_needs_it():
    for beside, words in (
        ({"text/plain": "alive in a trusted notebook"}, "needs JavaScript"),
        ({"text/plain": "a", "image/png": PIXEL}, None),
    ):
        models = stored(w=("AnyModel", {"_esm": "export default {}"}))
        page = Shown(shown({VIEW: {"model_id": "w"}, **beside}), metadata={"widgets": models})
        still = page.page.find(class_="still")
        assert (still.find(class_="words") is None) == (words is None), "the style sheet hides it"
        assert words is None or words in still.noscript.get_text()
        assert (still.find("img") is None) == (words is not None)
