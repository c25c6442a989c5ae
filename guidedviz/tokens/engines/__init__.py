"""The engines used in production, with one common interface; each package is optional."""
