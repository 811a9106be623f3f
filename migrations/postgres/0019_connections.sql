-- Accounts that people have elsewhere and let tools act with: of each person one
-- under the name of its connection.spec. What is sealed opens with the
-- installation's key for that person and name alone. It goes with the account.
CREATE TABLE connection (
  user_id      uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  name         text NOT NULL,
  account_id   text NOT NULL DEFAULT '',
  account_name text NOT NULL DEFAULT '',
  sealed       bytea NOT NULL,
  scopes       jsonb NOT NULL,
  version      integer NOT NULL DEFAULT 1,
  refused      boolean NOT NULL DEFAULT false,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz,
  PRIMARY KEY (user_id, name)
);

-- What a run does outside that must not be done twice: written before it is
-- begun, and again once it is known what came of it (TOOL-16). What has no end
-- here was begun, and nobody knows whether it happened.
CREATE TABLE act (
  run_id     uuid NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  effect_id  text NOT NULL,
  attempt    integer NOT NULL,
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  tool       text NOT NULL,
  begun_at   timestamptz NOT NULL DEFAULT now(),
  ended_at   timestamptz,
  outcome    jsonb,
  PRIMARY KEY (run_id, effect_id, attempt)
);
CREATE INDEX act_user ON act (user_id);

SELECT app_guard('connection', 'user_id = (SELECT app_person())');
SELECT app_guard('act', 'user_id = (SELECT app_person())');
