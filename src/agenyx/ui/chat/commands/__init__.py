"""The slash commands: one function each, named in one table. A command never asks the model."""
