"""The input of the full screen: what is typed, what waits, what is looked up while typing."""
