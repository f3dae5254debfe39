"""What stands in the conversation, on the screen: one view over rows that are made when they are seen."""
