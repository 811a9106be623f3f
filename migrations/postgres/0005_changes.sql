-- Changes to the behaviour on their way (001 §2.7, §10), what runs leave for
-- rehearsals, versions on trial, and the account of the system's own runs.

-- The system's own runs, which carry proposals through and look for new ones,
-- belong to an account like every run. Nobody signs in as it: it is not active
-- and has no credential.
INSERT INTO app_user (id, email, handle, role, is_active, created_at)
VALUES ('00000000-0000-4000-8000-000000000001', 'liminal@system.invalid', 'Liminal', 'user', false, '2026-01-01T00:00:00Z');

-- A draft is there so that a proposal has something to change; nothing uses it
-- (C-58). It is a copy of the document's own status, for lists.
ALTER TABLE artifact ADD COLUMN status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'draft'));

-- While a version is on trial, only a share of new runs takes it; null: all do.
ALTER TABLE artifact ADD COLUMN rollout jsonb;

-- No released program wrote this table, so it is made again with all that a
-- proposal has on its way.
DROP TABLE config_patch;

CREATE TABLE config_patch (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  artifact_id   uuid NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  proposer      text NOT NULL CHECK (proposer IN ('system_llm', 'human_admin', 'user')),
  user_id       uuid,
  patch         json NOT NULL,
  justification text NOT NULL DEFAULT '',
  status        text NOT NULL DEFAULT 'pending' CHECK (status IN
    ('pending', 'approved', 'applied', 'rejected', 'invalid', 'expired', 'withdrawn', 'superseded', 'rolled_back')),
  stage         text NOT NULL DEFAULT 'checking' CHECK (stage IN
    ('checking', 'rehearsing', 'deciding', 'applying', 'watching', 'settled')),
  run_id        uuid,
  checks        json NOT NULL DEFAULT '[]',
  script        json,
  unknowns      text NOT NULL DEFAULT '',
  verdict       text NOT NULL DEFAULT '',
  needs         bigint NOT NULL DEFAULT 1,
  trial         json NOT NULL DEFAULT '{}',
  rebased_from  bigint,
  rebased_to    bigint,
  created_at    timestamptz NOT NULL DEFAULT now(),
  decided_at    timestamptz,
  applied_at    timestamptz,
  expires_at    timestamptz,
  meta          jsonb
);

CREATE INDEX config_patch_artifact ON config_patch (artifact_id, created_at);
CREATE INDEX config_patch_newest ON config_patch (created_at, id);
CREATE INDEX config_patch_user ON config_patch (user_id, created_at, id);

CREATE TABLE config_patch_change (
  patch_id        bigint NOT NULL REFERENCES config_patch (id) ON DELETE CASCADE,
  position        bigint NOT NULL,
  artifact_id     uuid NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  kind            text NOT NULL,
  name            text NOT NULL,
  base_version    bigint NOT NULL,
  patch           json NOT NULL,
  creates         boolean NOT NULL DEFAULT false,
  applied_version bigint,
  report          json,
  PRIMARY KEY (patch_id, position)
);

CREATE INDEX config_patch_change_artifact ON config_patch_change (artifact_id, patch_id);

CREATE TABLE config_patch_event (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  patch_id bigint NOT NULL REFERENCES config_patch (id) ON DELETE CASCADE,
  at       timestamptz NOT NULL DEFAULT now(),
  user_id  uuid,
  name     text NOT NULL DEFAULT '',
  what     text NOT NULL,
  reason   text NOT NULL DEFAULT '',
  data     json
);

CREATE INDEX config_patch_event_patch ON config_patch_event (patch_id, id);
CREATE INDEX config_patch_event_user ON config_patch_event (user_id);

CREATE TABLE config_patch_approval (
  patch_id bigint NOT NULL REFERENCES config_patch (id) ON DELETE CASCADE,
  user_id  uuid NOT NULL,
  name     text NOT NULL DEFAULT '',
  at       timestamptz NOT NULL DEFAULT now(),
  reason   text NOT NULL DEFAULT '',
  PRIMARY KEY (patch_id, user_id)
);

CREATE INDEX config_patch_approval_user ON config_patch_approval (user_id);

CREATE TABLE recording (
  run_id         uuid PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  user_id        uuid NOT NULL,
  kind           text NOT NULL,
  graph_id       uuid,
  graph_name     text NOT NULL DEFAULT '',
  graph_version  bigint NOT NULL DEFAULT 0,
  policy_id      uuid,
  policy_name    text NOT NULL DEFAULT '',
  policy_version bigint NOT NULL DEFAULT 0,
  status         text NOT NULL CHECK (status IN ('done', 'failed', 'cancelled')),
  branch         text NOT NULL DEFAULT '',
  node           text NOT NULL DEFAULT '',
  code           text NOT NULL DEFAULT '',
  asked          bigint NOT NULL DEFAULT 0,
  skipped        bigint NOT NULL DEFAULT 0,
  model_calls    bigint NOT NULL DEFAULT 0,
  tool_calls     bigint NOT NULL DEFAULT 0,
  cost_usd       double precision NOT NULL DEFAULT 0,
  ms             bigint NOT NULL DEFAULT 0,
  at             timestamptz NOT NULL DEFAULT now(),
  body           bytea NOT NULL
);

-- The bodies are compressed already.
ALTER TABLE recording ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE INDEX recording_graph ON recording (graph_id, at);
CREATE INDEX recording_policy ON recording (policy_id, at);
CREATE INDEX recording_age ON recording (at);
CREATE INDEX recording_user ON recording (user_id);

CREATE INDEX run_newest ON run (created_at, id);
CREATE INDEX preference_event_newest ON preference_event (created_at);

SELECT app_guard('recording', 'user_id = (SELECT app_person())');

-- Steps of a proposal are the program's to write, with all that belongs to
-- them; people read: an administrator everybody's, others their own.
SELECT app_guard('config_patch', 'false', 'user_id = (SELECT app_person()) OR (SELECT app_admin())');
SELECT app_guard(t::regclass, 'false', 'EXISTS (SELECT 1 FROM config_patch p WHERE p.id = patch_id)')
  FROM unnest(ARRAY['config_patch_change', 'config_patch_event', 'config_patch_approval']) AS t;

-- A question of the system's own runs is put to the administrators.
CREATE POLICY stewards ON run FOR SELECT
  USING ((SELECT app_admin()) AND user_id = '00000000-0000-4000-8000-000000000001');
CREATE POLICY stewards ON interrupt FOR SELECT
  USING ((SELECT app_admin()) AND user_id = '00000000-0000-4000-8000-000000000001');
