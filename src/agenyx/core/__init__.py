"""Values that every layer shares: messages, events, effects, verdicts, JSON, limits. No I/O, no policy."""
