-- Keys for programs. Of a key only its hash is kept; scopes, assistants and
-- tools are lists, of which an empty list of assistants is all of them. A key
-- that has ended keeps its row for a while: its person sees when it was used
-- last, and runs that were begun with it find that it has ended.
CREATE TABLE access_key (
  id           TEXT PRIMARY KEY,
  user_id      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  name         TEXT NOT NULL,
  sha256       TEXT NOT NULL,
  scopes       TEXT NOT NULL,
  assistants   TEXT,
  tools        TEXT,
  audience     TEXT NOT NULL DEFAULT '',
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at   INTEGER
) STRICT;

CREATE INDEX access_key_user ON access_key (user_id, created_at, id);

-- The key a run was begun with; null: in a session, or by the system. It
-- outlives the key: a run whose key is gone may do nothing more.
ALTER TABLE run ADD COLUMN key_id TEXT;

-- A conversation that programs hold which send all of it with each turn: it is
-- in no list and found by no search.
ALTER TABLE conversation ADD COLUMN unlisted INTEGER NOT NULL DEFAULT 0;
