"""People and programs: command line and surfaces. Subscribers of AgentEvents only."""
