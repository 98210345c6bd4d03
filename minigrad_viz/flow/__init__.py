"""Scene → flow of gradients: local derivatives, sums, paths, and the pass run again, right or wrong."""
