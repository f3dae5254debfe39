"""The tools a model may call, one module and one description each. They know no policy and no surface."""
