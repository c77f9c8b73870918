"""Everything that the cells of a lesson show: pictures, explorers, ticks, and the verdicts of checks."""
