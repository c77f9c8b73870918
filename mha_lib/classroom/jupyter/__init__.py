"""The extension of JupyterLab, in JavaScript, and the settings with which the course starts JupyterLab.

``extension/`` begins it in JupyterLab and in RISE; ``deck/`` belongs to RISE, ``seat/`` to JupyterLab.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# For JUPYTER_CONFIG_PATH: nothing asks the network, and no untrusted notebook runs code in the page.
SETTINGS = Path(__file__).with_name("settings")


@contextmanager
def trusting_copies(root: Path) -> Iterator[None]:
    """Trust the notebooks that this block writes into ``work/``, as our servers trust what they save."""

    def contents() -> set[bytes]:
        return {file.read_bytes() for file in root.glob("work/*/*.ipynb")}

    before = contents()
    yield
    if not (written := contents() - before):
        return
    import nbformat
    from traitlets.config.loader import PyFileConfigLoader

    settings = PyFileConfigLoader("jupyter_server_config.py", str(SETTINGS)).load_config()
    notary = settings.ServerApp.contents_manager_class().notary
    for content in written:
        notary.sign(nbformat.reads(content.decode(), as_version=4))
    notary.store.close()
