"""`lasthop export`: results and links in the formats of other tools."""
