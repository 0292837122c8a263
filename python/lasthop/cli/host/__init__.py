"""`lasthop host`: the mechanisms of papers on real hosts."""
