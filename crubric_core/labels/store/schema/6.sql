-- Settings and filters that somebody saved under a name.

CREATE TABLE IF NOT EXISTS scenarios (
    dataset_id INTEGER NOT NULL,
    name VARCHAR NOT NULL,       -- one scenario per (dataset, name)
    settings VARCHAR NOT NULL,   -- JSON: the nearest preset, and what differs from it
    page VARCHAR NOT NULL,       -- the page whose filters these are, '' where there is none
    filters VARCHAR NOT NULL,    -- JSON: address parameter → values
    saved_at TIMESTAMP NOT NULL
);
