-- Changes to the behaviour on their way (001 §2.7, §10), what runs leave for
-- rehearsals, versions on trial, and the account of the system's own runs.

-- The system's own runs, which carry proposals through and look for new ones,
-- belong to an account like every run. Nobody signs in as it: it is not active
-- and has no credential.
INSERT INTO app_user (id, email, handle, role, is_active, created_at)
VALUES ('00000000-0000-4000-8000-000000000001', 'liminal@system.invalid', 'Liminal', 'user', 0, 1767225600000000);

-- A draft is there so that a proposal has something to change; nothing uses it
-- (C-58). It is a copy of the document's own status, for lists.
ALTER TABLE artifact ADD COLUMN status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'draft'));

-- While a version is on trial, only a share of new runs takes it; null: all do.
ALTER TABLE artifact ADD COLUMN rollout TEXT;

-- No released program wrote this table, so it is made again with all that a
-- proposal has on its way.
DROP TABLE config_patch;

CREATE TABLE config_patch (
  id            INTEGER PRIMARY KEY AUTOINCREMENT, -- a number in a link is never used twice
  artifact_id   TEXT NOT NULL REFERENCES artifact (id) ON DELETE CASCADE, -- of the first change
  proposer      TEXT NOT NULL CHECK (proposer IN ('system_llm', 'human_admin', 'user')),
  user_id       TEXT,                          -- who proposed; null: the system; stays when they go
  patch         TEXT NOT NULL,                 -- of the first change
  justification TEXT NOT NULL DEFAULT '',
  status        TEXT NOT NULL DEFAULT 'pending' CHECK (status IN
    ('pending', 'approved', 'applied', 'rejected', 'invalid', 'expired', 'withdrawn', 'superseded', 'rolled_back')),
  stage         TEXT NOT NULL DEFAULT 'checking' CHECK (stage IN
    ('checking', 'rehearsing', 'deciding', 'applying', 'watching', 'settled')),
  run_id        TEXT,                          -- of its workflow
  checks        TEXT NOT NULL DEFAULT '[]',
  script        TEXT,                          -- scripted outputs of the rehearsal
  unknowns      TEXT NOT NULL DEFAULT '',
  verdict       TEXT NOT NULL DEFAULT '',
  needs         INTEGER NOT NULL DEFAULT 1,    -- approvals
  trial         TEXT NOT NULL DEFAULT '{}',
  rebased_from  INTEGER,
  rebased_to    INTEGER,
  created_at    INTEGER NOT NULL,
  decided_at    INTEGER,
  applied_at    INTEGER,
  expires_at    INTEGER,                       -- of the stage that waits for a person
  meta          TEXT
) STRICT;

CREATE INDEX config_patch_artifact ON config_patch (artifact_id, created_at);
CREATE INDEX config_patch_newest ON config_patch (created_at, id);
CREATE INDEX config_patch_user ON config_patch (user_id, created_at, id);

-- Every change of a proposal, the first as well: they are applied together.
CREATE TABLE config_patch_change (
  patch_id        INTEGER NOT NULL REFERENCES config_patch (id) ON DELETE CASCADE,
  position        INTEGER NOT NULL,            -- from 0
  artifact_id     TEXT NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  kind            TEXT NOT NULL,
  name            TEXT NOT NULL,
  base_version    INTEGER NOT NULL,
  patch           TEXT NOT NULL,               -- RFC 6902
  creates         INTEGER NOT NULL DEFAULT 0,  -- the artifact is a draft until this is applied (C-58)
  applied_version INTEGER,
  report          TEXT,                        -- of its rehearsal
  PRIMARY KEY (patch_id, position)
) STRICT;

CREATE INDEX config_patch_change_artifact ON config_patch_change (artifact_id, patch_id);

-- Who did what to a proposal, when and why (CFG-16); never changed.
CREATE TABLE config_patch_event (
  id       INTEGER PRIMARY KEY,
  patch_id INTEGER NOT NULL REFERENCES config_patch (id) ON DELETE CASCADE,
  at       INTEGER NOT NULL,
  user_id  TEXT,                               -- null: the system; stays when they go
  name     TEXT NOT NULL DEFAULT '',           -- theirs, until they go
  what     TEXT NOT NULL,
  reason   TEXT NOT NULL DEFAULT '',
  data     TEXT
) STRICT;

CREATE INDEX config_patch_event_patch ON config_patch_event (patch_id, id);
CREATE INDEX config_patch_event_user ON config_patch_event (user_id);

CREATE TABLE config_patch_approval (
  patch_id INTEGER NOT NULL REFERENCES config_patch (id) ON DELETE CASCADE,
  user_id  TEXT NOT NULL,
  name     TEXT NOT NULL DEFAULT '',
  at       INTEGER NOT NULL,
  reason   TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (patch_id, user_id)
) STRICT;

CREATE INDEX config_patch_approval_user ON config_patch_approval (user_id);

-- What a run that ended leaves for rehearsals: its head in columns, by which
-- runs are sampled and counted, and the rest as a compressed record.
CREATE TABLE recording (
  run_id         TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  user_id        TEXT NOT NULL,
  kind           TEXT NOT NULL,
  graph_id       TEXT,                         -- the workflow it followed; no reference, as in run.pins
  graph_name     TEXT NOT NULL DEFAULT '',
  graph_version  INTEGER NOT NULL DEFAULT 0,
  policy_id      TEXT,                         -- null: it was not routed
  policy_name    TEXT NOT NULL DEFAULT '',
  policy_version INTEGER NOT NULL DEFAULT 0,
  status         TEXT NOT NULL CHECK (status IN ('done', 'failed', 'cancelled')),
  branch         TEXT NOT NULL DEFAULT '',
  node           TEXT NOT NULL DEFAULT '',     -- where it failed
  code           TEXT NOT NULL DEFAULT '',     -- of the failure
  asked          INTEGER NOT NULL DEFAULT 0,
  skipped        INTEGER NOT NULL DEFAULT 0,
  model_calls    INTEGER NOT NULL DEFAULT 0,
  tool_calls     INTEGER NOT NULL DEFAULT 0,
  cost_usd       REAL NOT NULL DEFAULT 0,      -- the part that is known
  ms             INTEGER NOT NULL DEFAULT 0,
  at             INTEGER NOT NULL,             -- when it ended
  body           BLOB NOT NULL
) STRICT;

CREATE INDEX recording_graph ON recording (graph_id, at);
CREATE INDEX recording_policy ON recording (policy_id, at);
CREATE INDEX recording_age ON recording (at);
CREATE INDEX recording_user ON recording (user_id);

-- An administrator's list of everybody's runs, and what was said since a time.
CREATE INDEX run_newest ON run (created_at, id);
CREATE INDEX preference_event_newest ON preference_event (created_at);
