"""Where Agenyx keeps its files and what the environment says. Knows no session, no provider wire."""
