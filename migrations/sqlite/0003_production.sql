-- What production asks for: tenants, sessions that rotate, second factors,
-- sign-in elsewhere, versions of vectors, and the tables of learning and of
-- changes to the behaviour (001 §2.4, 2.6, 2.7).

ALTER TABLE app_user ADD COLUMN tenant_id TEXT NOT NULL DEFAULT 'default';

-- A session's id changes with every day of use; the family is what all its
-- ids have in common, and what a stolen token ends.
ALTER TABLE auth_session ADD COLUMN family_id TEXT NOT NULL DEFAULT '';
ALTER TABLE auth_session ADD COLUMN client TEXT NOT NULL DEFAULT 'web';
UPDATE auth_session SET family_id = id;
CREATE INDEX auth_session_family ON auth_session (family_id);
CREATE INDEX auth_session_expiry ON auth_session (expires_at);

CREATE TABLE user_auth_provider (
  id           TEXT PRIMARY KEY,
  user_id      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  provider     TEXT NOT NULL,                  -- 'google', 'github', 'oidc:name'
  provider_uid TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  meta         TEXT
) STRICT;

CREATE UNIQUE INDEX user_auth_provider_uid ON user_auth_provider (provider, provider_uid);
CREATE INDEX user_auth_provider_user ON user_auth_provider (user_id);

CREATE TABLE user_auth_factor (
  user_id    TEXT PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  secret     BLOB NOT NULL,                    -- of TOTP, sealed with a key of the secret table
  last_step  INTEGER NOT NULL DEFAULT 0,       -- a code counts once
  recovery   TEXT NOT NULL DEFAULT '[]',       -- hashes of the codes not yet used
  created_at INTEGER NOT NULL,
  enabled_at INTEGER                           -- null until the first code was right
) STRICT;

-- Chunks of one context may be of two encoders while it is embedded anew; a
-- search reads those of the context's encoder. '' reads all.
ALTER TABLE knowledge_context ADD COLUMN encoder TEXT NOT NULL DEFAULT '';
ALTER TABLE knowledge_chunk ADD COLUMN encoder TEXT NOT NULL DEFAULT '';
ALTER TABLE knowledge_chunk ADD COLUMN meta TEXT;
ALTER TABLE chunk_vector ADD COLUMN encoder TEXT NOT NULL DEFAULT '';
UPDATE knowledge_context SET encoder = 'hash-v1';  -- the only one there was
UPDATE knowledge_chunk SET encoder = 'hash-v1';
UPDATE chunk_vector SET encoder = 'hash-v1';
CREATE INDEX chunk_vector_encoder ON chunk_vector (context_id, encoder);
CREATE UNIQUE INDEX context_source_path ON context_source (context_id, fs_path);
CREATE INDEX document_waiting ON document (updated_at, id) WHERE status IN ('waiting', 'reading');
CREATE INDEX document_place ON document (user_id, path);

-- Values too large for a history, by the hash of what is stored (PLAT-14).
CREATE TABLE payload (
  id         TEXT PRIMARY KEY,
  value      BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX payload_age ON payload (created_at);

CREATE TABLE semantic_cluster (
  id                 TEXT PRIMARY KEY,
  user_id            TEXT,                     -- null: global; no reference (DATA-01)
  centroid           BLOB NOT NULL,            -- 64 float32, little-endian
  size               INTEGER NOT NULL DEFAULT 0,
  label              TEXT NOT NULL DEFAULT '',
  description        TEXT NOT NULL DEFAULT '',
  sample_message_ids TEXT NOT NULL DEFAULT '[]',
  created_at         INTEGER NOT NULL,
  updated_at         INTEGER NOT NULL,
  meta               TEXT
) STRICT;

CREATE INDEX semantic_cluster_user ON semantic_cluster (user_id);

-- What is kept for a repeated key goes when its time is over (API-05).
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE TABLE preference_event (
  id                INTEGER PRIMARY KEY,
  user_id           TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  conversation_id   TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  message_id        TEXT NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  explicit_signal   TEXT NOT NULL,
  score             REAL NOT NULL CHECK (score BETWEEN -1 AND 1),
  context_embedding BLOB,                      -- 64 float32, little-endian
  context_text      TEXT NOT NULL DEFAULT '',
  corrected_text    TEXT,                      -- G-02
  cluster_id        TEXT,
  created_at        INTEGER NOT NULL,
  meta              TEXT
) STRICT;

CREATE INDEX preference_event_user ON preference_event (user_id, created_at, id);
CREATE INDEX preference_event_conversation ON preference_event (conversation_id);
CREATE INDEX preference_event_message ON preference_event (message_id);

CREATE TABLE adapter_router_state (
  artifact_id     TEXT PRIMARY KEY REFERENCES artifact (id) ON DELETE CASCADE,
  centroid_vec    BLOB,
  usage_count     INTEGER NOT NULL DEFAULT 0,
  success_score   REAL NOT NULL DEFAULT 0.0,
  last_used_at    INTEGER,
  last_trained_at INTEGER,
  meta            TEXT
) STRICT;

CREATE TABLE training_job (
  id                   TEXT PRIMARY KEY,
  adapter_id           TEXT NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  user_id              TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  created_at           INTEGER NOT NULL,
  updated_at           INTEGER NOT NULL,
  status               TEXT NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
  num_events           INTEGER,
  loss                 REAL,
  dataset_path         TEXT,
  new_version          INTEGER,
  preference_event_ids TEXT NOT NULL DEFAULT '[]',
  meta                 TEXT
) STRICT;

CREATE INDEX training_job_user ON training_job (user_id, created_at, id);
CREATE INDEX training_job_adapter ON training_job (adapter_id);

CREATE TABLE config_patch (
  id            INTEGER PRIMARY KEY,
  artifact_id   TEXT NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  proposer      TEXT NOT NULL CHECK (proposer IN ('system_llm', 'human_admin', 'user')),
  user_id       TEXT,                          -- who proposed; null: the system
  patch         TEXT NOT NULL,
  justification TEXT NOT NULL DEFAULT '',
  status        TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected', 'applied')),
  created_at    INTEGER NOT NULL,
  decided_at    INTEGER,
  applied_at    INTEGER,
  meta          TEXT
) STRICT;

CREATE INDEX config_patch_artifact ON config_patch (artifact_id, created_at);
