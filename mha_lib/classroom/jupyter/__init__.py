"""The extension of JupyterLab, in JavaScript, and the settings with which the course starts JupyterLab.

``extension/`` begins it in JupyterLab and in RISE; ``deck/`` belongs to RISE, ``seat/`` to JupyterLab.
"""

from pathlib import Path

# For JUPYTER_CONFIG_PATH: nothing asks the network, and no untrusted notebook runs code in the page.
SETTINGS = Path(__file__).with_name("settings")
