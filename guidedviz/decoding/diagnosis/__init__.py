"""What went wrong in a run, read from its record."""
