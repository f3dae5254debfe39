"""What is opened over the conversation: help, and lists to choose from."""
