"""The one place that wires parts into a runtime."""
