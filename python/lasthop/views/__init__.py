"""Views of results: plots, explanations, exports, notebooks. None imports another."""
