"""What the teacher sees of a class, and what the class sees of the teacher. All of it is in memory only."""
