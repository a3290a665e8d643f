"""The parts of the Leaderboard page."""
