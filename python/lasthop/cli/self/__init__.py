"""`lasthop self`: the installation, its documents and its speed."""
