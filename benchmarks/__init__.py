"""Performance comparisons; ``results/`` keeps their results, and the machine that gave them."""
