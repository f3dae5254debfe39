"""Subagents by name: what the files of people and of other agents say about them. Runs nothing."""
