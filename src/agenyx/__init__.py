"""Agenyx: a coding agent for the terminal and an agent runtime for Python."""
