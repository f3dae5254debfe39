"""Slash commands: one table for every surface, dispatched before the model. One module a command."""
