-- What the document assistant and budgets ask for: sets of documents, titles
-- that people give, and what model calls used.

-- A title a person gave stays when the file is read again.
ALTER TABLE document ADD COLUMN titled INTEGER NOT NULL DEFAULT 0;
CREATE INDEX document_newest ON document (user_id, created_at, id);

CREATE TABLE document_set (
  id         TEXT PRIMARY KEY,
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  title      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX document_set_user ON document_set (user_id, updated_at, id);

CREATE TABLE document_set_document (
  set_id      TEXT NOT NULL REFERENCES document_set (id) ON DELETE CASCADE,
  document_id TEXT NOT NULL REFERENCES document (id) ON DELETE CASCADE,
  user_id     TEXT NOT NULL,
  position    INTEGER NOT NULL,                -- from 0
  PRIMARY KEY (set_id, document_id)
) STRICT;

CREATE INDEX document_set_document_document ON document_set_document (document_id);

-- One row for each person, day (UTC) and model, so that a budget is checked by
-- reading a few rows. What was spent stays when its conversation is deleted.
CREATE TABLE spend (
  user_id       TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  day           TEXT NOT NULL,                 -- '2026-11-20'
  model         TEXT NOT NULL,
  calls         INTEGER NOT NULL,
  input_tokens  INTEGER NOT NULL,              -- with those read from and written to a cache
  output_tokens INTEGER NOT NULL,
  cost_usd      REAL NOT NULL,                 -- the part that is known
  PRIMARY KEY (user_id, day, model)
) STRICT;

-- What is in spend already: a call that is told again is counted once.
CREATE TABLE spend_call (
  run_id          TEXT NOT NULL,
  effect_id       TEXT NOT NULL,
  attempt         INTEGER NOT NULL,
  model           TEXT NOT NULL,
  user_id         TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  conversation_id TEXT,
  calls           INTEGER NOT NULL,
  input_tokens    INTEGER NOT NULL,
  output_tokens   INTEGER NOT NULL,
  cost_usd        REAL NOT NULL,
  created_at      INTEGER NOT NULL,
  PRIMARY KEY (run_id, effect_id, attempt, model)
) STRICT;

CREATE INDEX spend_call_conversation ON spend_call (conversation_id);
CREATE INDEX spend_call_user ON spend_call (user_id);
