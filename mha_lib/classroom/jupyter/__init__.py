"""The extension of JupyterLab, in JavaScript, and the settings with which the course starts JupyterLab.

``extension/`` begins it in JupyterLab and in RISE; ``deck/`` belongs to RISE, ``seat/`` to JupyterLab.
"""

from pathlib import Path

SETTINGS = Path(__file__).with_name("settings")  # for JUPYTER_CONFIG_PATH: nothing asks the network
