"""Experiments over many seeds that lessons cite; ``results/`` keeps their tables."""
