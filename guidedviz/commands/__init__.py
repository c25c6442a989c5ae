"""The commands of `guidedviz`: `labs` copies the course, `export` writes its exercises for graders, `demo` decodes."""
