"""`lasthop cc`: controllers and the TCP endpoint against rules, recordings and packet scripts."""
