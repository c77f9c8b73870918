"""What the class sees: pictures, the explorer, exercises, decks and handouts."""
