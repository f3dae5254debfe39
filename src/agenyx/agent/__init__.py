"""The loop, the boundary every call crosses, the scheduler, the prompt. Knows no surface."""
