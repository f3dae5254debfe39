"""The only place where processes start. Knows argv, pipes and groups; nothing of tools or models."""
