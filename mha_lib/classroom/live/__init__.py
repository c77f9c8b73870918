"""What a cell of a lesson shows."""
