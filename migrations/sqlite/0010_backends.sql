-- Model backends that administrators set up, beside the one of the settings.
-- api_key is sealed; key_end is what is shown of it. models are names by tier,
-- price is in US dollars a million tokens, max_tokens 0 is no bound.
CREATE TABLE model_backend (
  name        TEXT PRIMARY KEY,
  title       TEXT NOT NULL DEFAULT '',
  protocol    TEXT NOT NULL,
  url         TEXT NOT NULL DEFAULT '',
  model       TEXT NOT NULL DEFAULT '',
  models      TEXT,
  api_version TEXT NOT NULL DEFAULT '',
  api_key     BLOB,
  key_end     TEXT NOT NULL DEFAULT '',
  max_tokens  INTEGER NOT NULL DEFAULT 0,
  price       TEXT,
  choosable   INTEGER NOT NULL DEFAULT 0,
  is_default  INTEGER NOT NULL DEFAULT 0,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL
) STRICT;

-- The backend of the settings has a row for what is chosen here: whether people
-- may choose it, and that it answers where nobody chose.
INSERT INTO model_backend (name, protocol, is_default, created_at, updated_at) VALUES ('environment', '', 1, 0, 0);

-- What administrators did to backends; the name of the backend stays when it goes.
CREATE TABLE model_backend_change (
  id         TEXT PRIMARY KEY,
  backend    TEXT NOT NULL,
  actor_id   TEXT REFERENCES app_user (id) ON DELETE SET NULL,
  action     TEXT NOT NULL,
  fields     TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX model_backend_change_time ON model_backend_change (created_at, id);
CREATE INDEX model_backend_change_actor ON model_backend_change (actor_id);

-- The backend its person chose; null: the one that answers where nobody chose.
ALTER TABLE conversation ADD COLUMN backend TEXT;
