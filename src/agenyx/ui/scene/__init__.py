"""The view model of a conversation for people: what stands there, and what is going on. Knows no toolkit."""
