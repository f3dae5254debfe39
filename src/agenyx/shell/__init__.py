"""Shell commands: parsing them for judgement, and running them. Knows no policy."""
