-- The kernel's tables: accounts, chat, runs and their questions, artifacts.
--
-- Times are microseconds since 1970, UTC. Ids are UUIDs in text form. JSON is
-- text. Every table of a person's things carries user_id, also where a parent
-- has it, so that row-level security can be one predicate on PostgreSQL.

CREATE TABLE app_user (
  id          TEXT PRIMARY KEY,
  email       TEXT NOT NULL UNIQUE,            -- lower-cased by the program
  handle      TEXT NOT NULL DEFAULT '',
  role        TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'power', 'admin')),
  plan_tier   TEXT NOT NULL DEFAULT 'free',
  is_active   INTEGER NOT NULL DEFAULT 1,
  created_at  INTEGER NOT NULL,
  meta        TEXT
) STRICT;

CREATE TABLE user_auth_credential (
  user_id         TEXT PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  password_hash   TEXT,                        -- null: signs in elsewhere only
  password_algo   TEXT,
  created_at      INTEGER NOT NULL,
  last_updated_at INTEGER
) STRICT;

CREATE TABLE user_settings (
  user_id       TEXT PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  locale        TEXT,
  timezone      TEXT,
  default_voice TEXT,
  default_style TEXT,
  flags         TEXT
) STRICT;

CREATE TABLE auth_session (
  id           TEXT PRIMARY KEY,
  user_id      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  refresh_hash TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  revoked_at   INTEGER,
  user_agent   TEXT NOT NULL DEFAULT '',
  ip_addr      TEXT NOT NULL DEFAULT '',
  meta         TEXT
) STRICT;

CREATE INDEX auth_session_user ON auth_session (user_id);

CREATE TABLE conversation (
  id                TEXT PRIMARY KEY,
  user_id           TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  title             TEXT NOT NULL DEFAULT '',
  status            TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'archived')),
  active_context_id TEXT,
  last_seq          INTEGER NOT NULL DEFAULT 0, -- of the newest message; makes seq dense
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  meta              TEXT
) STRICT;

CREATE INDEX conversation_user ON conversation (user_id, updated_at, id);

CREATE TABLE message (
  id              TEXT PRIMARY KEY,            -- derived from the run and the role
  conversation_id TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  user_id         TEXT NOT NULL,
  run_id          TEXT,
  sender          TEXT NOT NULL CHECK (sender IN ('user', 'assistant', 'system', 'tool')),
  role            TEXT NOT NULL,
  content         TEXT NOT NULL,
  content_struct  TEXT,
  seq             INTEGER NOT NULL,
  suppressed      INTEGER NOT NULL DEFAULT 0,  -- a copy of meta.suppressed, for lists
  created_at      INTEGER NOT NULL,
  token_count_in  INTEGER NOT NULL DEFAULT 0,
  token_count_out INTEGER NOT NULL DEFAULT 0,
  meta            TEXT
) STRICT;

CREATE UNIQUE INDEX message_seq ON message (conversation_id, seq);

CREATE TABLE run (
  id              TEXT PRIMARY KEY,
  user_id         TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  workflow_id     TEXT NOT NULL,
  kind            TEXT NOT NULL,
  conversation_id TEXT REFERENCES conversation (id) ON DELETE CASCADE,
  request_id      TEXT,
  status          TEXT NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled')),
  input           TEXT,
  pins            TEXT,
  result          TEXT,
  error           TEXT,
  trace           TEXT,
  next_run_id     TEXT,                        -- the queued turn that its end started
  created_at      INTEGER NOT NULL,
  started_at      INTEGER,
  ended_at        INTEGER
) STRICT;

CREATE UNIQUE INDEX run_request ON run (user_id, request_id) WHERE request_id IS NOT NULL;
CREATE UNIQUE INDEX run_workflow ON run (workflow_id) WHERE status IN ('queued', 'running', 'waiting');
CREATE INDEX run_conversation ON run (conversation_id);
CREATE INDEX run_open ON run (user_id, conversation_id, created_at, id) WHERE status IN ('queued', 'running', 'waiting');
CREATE INDEX run_user ON run (user_id, created_at, id);
CREATE INDEX run_user_running ON run (user_id, kind) WHERE status = 'running';
CREATE INDEX run_queued ON run (created_at) WHERE status = 'queued';
CREATE INDEX run_unfinished ON run (started_at, id) WHERE status IN ('running', 'waiting');

CREATE TABLE interrupt (
  id              TEXT PRIMARY KEY,
  run_id          TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  user_id         TEXT NOT NULL,
  workflow_id     TEXT NOT NULL,
  effect_id       TEXT NOT NULL,
  conversation_id TEXT,
  type            TEXT NOT NULL,
  message         TEXT NOT NULL,
  options         TEXT,
  answer_schema   TEXT,
  status          TEXT NOT NULL CHECK (status IN ('pending', 'answered', 'cancelled', 'expired')),
  answer          TEXT,
  delivered       INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL,
  answered_at     INTEGER,
  expires_at      INTEGER
) STRICT;

CREATE INDEX interrupt_run ON interrupt (run_id);
CREATE INDEX interrupt_pending ON interrupt (user_id, created_at, id) WHERE status = 'pending';
CREATE INDEX interrupt_undelivered ON interrupt (answered_at, id) WHERE NOT delivered AND status <> 'pending';

CREATE TABLE blob (
  id         TEXT PRIMARY KEY,                 -- derived from the run and the key
  run_id     TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  user_id    TEXT NOT NULL,
  value      BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX blob_run ON blob (run_id);

CREATE TABLE artifact (
  id            TEXT PRIMARY KEY,
  owner_user_id TEXT REFERENCES app_user (id), -- null: global
  type          TEXT NOT NULL,
  name          TEXT NOT NULL,
  description   TEXT NOT NULL DEFAULT '',
  visibility    TEXT NOT NULL DEFAULT 'private' CHECK (visibility IN ('private', 'shared', 'global')),
  version       INTEGER NOT NULL,              -- the current one
  schema        TEXT NOT NULL,
  fs_path       TEXT NOT NULL DEFAULT '',
  created_by    TEXT NOT NULL,                 -- of the current version
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  meta          TEXT
) STRICT;

CREATE UNIQUE INDEX artifact_name ON artifact (coalesce(owner_user_id, ''), type, name);
CREATE INDEX artifact_type_name ON artifact (type, name);
CREATE INDEX artifact_owner ON artifact (owner_user_id, updated_at, id);
CREATE INDEX artifact_global ON artifact (updated_at, id) WHERE visibility = 'global';

CREATE TABLE artifact_version (
  id          INTEGER PRIMARY KEY,
  artifact_id TEXT NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  version     INTEGER NOT NULL,
  schema      TEXT NOT NULL,
  fs_path     TEXT NOT NULL DEFAULT '',
  created_at  INTEGER NOT NULL,
  created_by  TEXT NOT NULL CHECK (created_by IN ('system', 'user', 'llm')),
  change_note TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE UNIQUE INDEX artifact_version_number ON artifact_version (artifact_id, version);

CREATE TABLE idempotency (
  user_id    TEXT NOT NULL,
  route      TEXT NOT NULL,
  key        TEXT NOT NULL,
  body_hash  TEXT NOT NULL,
  holder     TEXT NOT NULL,                    -- who works on it
  status     INTEGER NOT NULL DEFAULT 0,       -- HTTP status of the kept reply; 0 while it is worked on
  body       BLOB,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, route, key)
) STRICT;

CREATE TABLE counter (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT;

CREATE TABLE secret (
  name       TEXT PRIMARY KEY,
  value      BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
