"""Values that everything else reads: results, recordings, quantities, and the statistics of numbers."""
