"""Have nbgrader grade a class: its folder, what it does to a notebook, several students at once."""
