"""Performance comparisons; ``results/`` keeps what they gave, and on which machine."""
