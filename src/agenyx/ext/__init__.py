"""What a workspace or a person adds: instructions. Gated by trust; knows no surface."""
