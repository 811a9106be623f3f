-- Accounts that people have elsewhere and let tools act with: of each person one
-- under the name of its connection.spec. What is sealed opens with the
-- installation's key for that person and name alone. It goes with the account.
CREATE TABLE connection (
  user_id      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  name         TEXT NOT NULL,
  account_id   TEXT NOT NULL DEFAULT '',
  account_name TEXT NOT NULL DEFAULT '',
  sealed       BLOB NOT NULL,
  scopes       TEXT NOT NULL,
  version      INTEGER NOT NULL DEFAULT 1,
  refused      INTEGER NOT NULL DEFAULT 0,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  PRIMARY KEY (user_id, name)
) STRICT;

-- What a run does outside that must not be done twice: written before it is
-- begun, and again once it is known what came of it (TOOL-16). What has no end
-- here was begun, and nobody knows whether it happened.
CREATE TABLE act (
  run_id     TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  effect_id  TEXT NOT NULL,
  attempt    INTEGER NOT NULL,
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  tool       TEXT NOT NULL,
  begun_at   INTEGER NOT NULL,
  ended_at   INTEGER,
  outcome    TEXT,
  PRIMARY KEY (run_id, effect_id, attempt)
) STRICT;
CREATE INDEX act_user ON act (user_id);
