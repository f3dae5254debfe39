"""The public Python API. `agenyx/__init__.py` gives its names out; each is imported when it is first used."""
