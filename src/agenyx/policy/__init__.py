"""Rules that the person owns: modes, protected paths, refused programs, and the pure `decide`. No I/O."""
