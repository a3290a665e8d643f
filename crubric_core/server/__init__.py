"""Who may reach the dashboard and what the server answers: sign-in, middleware, protocol filter, rate limit."""
