"""The engines that production runs, each behind the same small shape; all of them optional."""
