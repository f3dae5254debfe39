"""Questions to the person on the full screen: approvals, questions of the model, plans, trust."""
