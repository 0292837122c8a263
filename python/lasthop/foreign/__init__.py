"""Measurements of others: captures, files of test tools, and twins made from them."""
