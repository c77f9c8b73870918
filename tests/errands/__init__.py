"""The errands of CONTRIBUTING.md and docs/en/maintain.md as scripts that change a copy of the repository.

A module has the HEADING of its recipe, ``make(root)``, which writes the files that the recipe names, and
TESTS, arguments of pytest that must pass in the copy afterwards.
"""
