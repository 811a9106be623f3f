-- What exchanges that the capture proxy kept cost, and why the provider's cache was
-- missed (docs/palace.md). palace_cost repeats the tokens of palace_exchange: sums over
-- months need not read rows that hold bodies.

CREATE TABLE palace_cost (
  user_id         TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  exchange_id     TEXT NOT NULL,
  agent_id        TEXT,
  lineage_id      TEXT,
  kind            TEXT NOT NULL,
  model           TEXT NOT NULL,
  at              INTEGER NOT NULL,
  day             TEXT NOT NULL, -- of at, in UTC
  input           INTEGER NOT NULL,
  cache_read      INTEGER NOT NULL,
  write_5m        INTEGER NOT NULL,
  write_1h        INTEGER NOT NULL,
  output          INTEGER NOT NULL,
  usd             REAL, -- null: the model has no price
  list_price      INTEGER NOT NULL, -- a subscription pays for it
  predicted_read  INTEGER, -- null: it was not foretold
  predicted_write INTEGER,
  off             REAL, -- how far the forecast was off, as a share of the request
  cause           TEXT, -- of a miss; null: there was none
  place           TEXT NOT NULL,
  reason          TEXT NOT NULL, -- that the backend gave
  missed          INTEGER NOT NULL, -- tokens
  missed_usd      REAL,
  PRIMARY KEY (user_id, exchange_id)
) STRICT;

CREATE INDEX palace_cost_day ON palace_cost (user_id, day);
CREATE INDEX palace_cost_agent ON palace_cost (agent_id, day);
CREATE INDEX palace_cost_lineage ON palace_cost (lineage_id);
CREATE INDEX palace_cost_miss ON palace_cost (user_id, exchange_id) WHERE cause IS NOT NULL;

INSERT INTO palace_cost (user_id, exchange_id, agent_id, lineage_id, kind, model, at, day, input, cache_read, write_5m, write_1h, output, list_price, place, reason, missed)
SELECT user_id, id, agent_id, lineage_id, kind, model, started_at, date(started_at / 1000000, 'unixepoch'), input, cache_read, write_5m, write_1h, output, 0, '', '', 0
FROM palace_exchange WHERE input + cache_read + write_5m + write_1h + output > 0;

CREATE TABLE palace_cache (
  user_id TEXT PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  state   BLOB NOT NULL -- sums of prefixes that the provider keeps
) STRICT;

CREATE TABLE palace_prompt (
  lineage_id TEXT PRIMARY KEY REFERENCES palace_lineage (id) ON DELETE CASCADE,
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  state      BLOB NOT NULL -- hashes of the parts of its last request
) STRICT;

CREATE INDEX palace_prompt_user ON palace_prompt (user_id);
