"""The commands of `guidedviz`: `labs` copies the course, `slides` and `export` write decks and graded exercises."""
