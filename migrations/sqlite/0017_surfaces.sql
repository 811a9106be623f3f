-- What turns of surfaces leave behind for administrators (GRND-28, GRND-30), one
-- row a turn, written with the turn itself and so before any model is asked. In
-- the redacted mode it has no word that anybody wrote. A turn that was refused
-- has a row too, under an id of its own.
CREATE TABLE turn_audit (
  turn_id            TEXT PRIMARY KEY,
  user_id            TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  surface            TEXT NOT NULL,
  session_id         TEXT NOT NULL,
  started_at         INTEGER NOT NULL,
  finished_at        INTEGER,
  model              TEXT NOT NULL,
  input_tokens       INTEGER,
  output_tokens      INTEGER,
  tool_calls         TEXT NOT NULL DEFAULT '[]',
  prompt_hash        TEXT,
  response_hash      TEXT,
  chip_count         INTEGER NOT NULL DEFAULT 0,
  error_code         TEXT,
  estimated_cost_usd REAL,
  cap_lifted         INTEGER NOT NULL DEFAULT 0,
  key_id             TEXT,
  classifier_tag     TEXT,
  duration_ms        INTEGER,
  user_message       TEXT,
  response           TEXT,
  response_tokens    INTEGER,
  used_tools         TEXT,
  rows_seen          TEXT,
  page_origin        TEXT,
  abandoned          INTEGER
) STRICT;

CREATE INDEX turn_audit_user ON turn_audit (user_id, started_at DESC);
CREATE INDEX turn_audit_started ON turn_audit (started_at DESC);

-- How many turns a person, and everybody, had of a surface in an hour (GRND-32).
-- Whether there may be another is decided in the statement that counts it.
CREATE TABLE turn_count (
  user_id     TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  surface     TEXT NOT NULL,
  hour_bucket INTEGER NOT NULL,
  turn_count  INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, surface, hour_bucket)
) STRICT;

CREATE TABLE surface_count (
  surface     TEXT NOT NULL,
  hour_bucket INTEGER NOT NULL,
  turn_count  INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (surface, hour_bucket)
) STRICT;

-- The names that the specification gives two of these tables.
CREATE VIEW paliadin_turns AS SELECT * FROM turn_audit WHERE surface = 'paliadin';
CREATE VIEW paliadin_rate_limit AS SELECT user_id, hour_bucket, turn_count FROM turn_count WHERE surface = 'paliadin';
