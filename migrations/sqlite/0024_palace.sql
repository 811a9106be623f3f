-- What the capture proxy kept of agents and their models, taken in from its spool
-- (docs/palace.md). Bodies are recipes of chunks, which many exchanges have in common,
-- and make what passed to the byte. All of it is one person's.

CREATE TABLE palace_agent (
  id         TEXT PRIMARY KEY,
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  number     INTEGER NOT NULL, -- small, for people
  name       TEXT NOT NULL, -- of the token it came with
  project    TEXT NOT NULL,
  kind       TEXT NOT NULL,
  parent_id  TEXT,
  created_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,
  UNIQUE (user_id, number)
) STRICT;

CREATE TABLE palace_lineage (
  id          TEXT PRIMARY KEY,
  user_id     TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  agent_id    TEXT NOT NULL REFERENCES palace_agent (id) ON DELETE CASCADE,
  key         TEXT NOT NULL, -- what the client calls its session or agent
  run         TEXT NOT NULL, -- which command, where its token is its own
  supersedes  TEXT,
  why         TEXT NOT NULL,
  fork        INTEGER NOT NULL,
  length      INTEGER NOT NULL,
  sent        INTEGER NOT NULL,
  digest      TEXT NOT NULL, -- of the blocks of the last request
  input       INTEGER NOT NULL,
  output      INTEGER NOT NULL,
  open        INTEGER NOT NULL,
  summarised  INTEGER NOT NULL,
  model       TEXT NOT NULL,
  exchanges   INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  seen_at     INTEGER NOT NULL
) STRICT;

CREATE INDEX palace_lineage_key ON palace_lineage (user_id, key, seen_at);
CREATE INDEX palace_lineage_run ON palace_lineage (user_id, run, seen_at);
CREATE INDEX palace_lineage_agent ON palace_lineage (agent_id, seen_at);

CREATE TABLE palace_exchange (
  user_id       TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  id            TEXT NOT NULL, -- the proxy's
  agent_id      TEXT,
  lineage_id    TEXT,
  number        INTEGER NOT NULL, -- in its lineage
  kind          TEXT NOT NULL,
  name          TEXT NOT NULL,
  project       TEXT NOT NULL,
  run           TEXT NOT NULL,
  method        TEXT NOT NULL,
  path          TEXT NOT NULL,
  query         TEXT NOT NULL,
  model         TEXT NOT NULL,
  status        INTEGER NOT NULL, -- 0: nothing came
  stop          TEXT NOT NULL,
  request_id    TEXT NOT NULL,
  started_at    INTEGER NOT NULL,
  ended_at      INTEGER, -- null: its proxy was killed
  complete      INTEGER NOT NULL,
  cut_by        TEXT NOT NULL,
  error         TEXT NOT NULL,
  masked        INTEGER NOT NULL,
  asked_size    INTEGER NOT NULL,
  asked_hash    TEXT NOT NULL,
  asked_lost    TEXT NOT NULL,
  answered_size INTEGER NOT NULL,
  answered_hash TEXT NOT NULL,
  answered_lost TEXT NOT NULL,
  input         INTEGER NOT NULL,
  cache_read    INTEGER NOT NULL,
  write_5m      INTEGER NOT NULL,
  write_1h      INTEGER NOT NULL,
  output        INTEGER NOT NULL,
  recipe        BLOB,
  wire          BLOB,
  PRIMARY KEY (user_id, id)
) STRICT;

CREATE INDEX palace_exchange_lineage ON palace_exchange (lineage_id, id);
CREATE INDEX palace_exchange_agent ON palace_exchange (agent_id, id);

CREATE TABLE palace_chunk (
  user_id TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  hash    TEXT NOT NULL,
  size    INTEGER NOT NULL,
  body    BLOB NOT NULL, -- zstd
  PRIMARY KEY (user_id, hash)
) STRICT;

CREATE TABLE palace_block (
  id          TEXT PRIMARY KEY,
  user_id     TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  display_id  INTEGER, -- null: it has none (any more)
  generation  INTEGER NOT NULL,
  key         TEXT NOT NULL, -- what it is known again by
  hash        TEXT NOT NULL,
  sum         TEXT NOT NULL, -- of what a result says, whichever use it belongs to
  type        TEXT NOT NULL,
  role        TEXT NOT NULL,
  tool        TEXT NOT NULL,
  scope       TEXT NOT NULL,
  project     TEXT NOT NULL,
  agent_id    TEXT,
  channels    TEXT NOT NULL,
  tier        TEXT NOT NULL,
  tier_by     TEXT NOT NULL,
  active      INTEGER NOT NULL,
  tokens      INTEGER NOT NULL,
  size        INTEGER NOT NULL,
  label       TEXT NOT NULL,
  exchange_id TEXT NOT NULL,
  form        TEXT NOT NULL,
  chunk       TEXT NOT NULL,
  start       INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  deleted_at  INTEGER,
  UNIQUE (user_id, key)
) STRICT;

CREATE INDEX palace_block_scope ON palace_block (user_id, scope, id);

CREATE TABLE palace_display (
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  display_id INTEGER NOT NULL,
  generation INTEGER NOT NULL, -- how many blocks have had it
  block_id   TEXT, -- null: it is free
  PRIMARY KEY (user_id, display_id)
) STRICT;

CREATE INDEX palace_display_free ON palace_display (user_id, display_id) WHERE block_id IS NULL;

CREATE TABLE palace_timeline (
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  lineage_id TEXT NOT NULL REFERENCES palace_lineage (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,
  block_id   TEXT NOT NULL REFERENCES palace_block (id) ON DELETE CASCADE,
  PRIMARY KEY (lineage_id, position)
) STRICT;

CREATE INDEX palace_timeline_block ON palace_timeline (block_id);
CREATE INDEX palace_timeline_user ON palace_timeline (user_id);

CREATE TABLE palace_spool (
  user_id TEXT PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  segment TEXT NOT NULL -- all before it is taken in
) STRICT;
