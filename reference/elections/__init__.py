"""Leaders are elected where there are leaders: on request, and by the automatic rebalance."""
