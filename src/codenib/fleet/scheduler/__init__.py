"""Policies of one server, pure: whose turn it is, what is shed, what is evicted; and what replays them."""
