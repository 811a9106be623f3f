-- Views of the capture proxy (docs/palace.md): what reached the backend where that is not
-- what the client sent, and the epochs in which it was so.

CREATE TABLE palace_sent (
  user_id     TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  exchange_id TEXT NOT NULL,
  epoch       INTEGER NOT NULL, -- its number; 0: none was in force
  client      TEXT NOT NULL,
  why         TEXT NOT NULL,
  refused     TEXT NOT NULL, -- what the backend said to another body before
  size        INTEGER NOT NULL,
  hash        TEXT NOT NULL,
  edits       BLOB NOT NULL, -- of the client's body, packed
  -- What the client's own body should have been charged for; null: that cannot be told.
  raw_input   INTEGER,
  raw_read    INTEGER,
  raw_5m      INTEGER,
  raw_1h      INTEGER,
  raw_usd     REAL,
  PRIMARY KEY (user_id, exchange_id)
) STRICT;

CREATE TABLE palace_epoch (
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  client     TEXT NOT NULL, -- the key of the history
  number     INTEGER NOT NULL,
  lineage_id TEXT,
  why        TEXT NOT NULL,
  doc        TEXT NOT NULL, -- as the proxy wrote it
  opened_at  INTEGER NOT NULL,
  PRIMARY KEY (user_id, client, number)
) STRICT;

CREATE INDEX palace_epoch_lineage ON palace_epoch (user_id, lineage_id, number);
