"""Drive a real browser: the player on a page, in an exported notebook, in JupyterLab."""
