"""Control of access to the dashboard and of what the server answers: sign-in, middleware, protocol filter, limits."""
