"""Handouts, slides, notes and the site: the lessons outside a running kernel."""
