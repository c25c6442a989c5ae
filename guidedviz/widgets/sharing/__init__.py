"""A stage that is shown to a class, and the stages that follow it."""
