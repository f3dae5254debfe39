"""How a person gets to a model: a key, a server on this machine, or the embedded model. Also behind /login."""
