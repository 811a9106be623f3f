-- What administrators decide: the numbers of plans, numbers of one person's
-- own, and the log of all of it.

-- Each change of a plan is a version; the latest holds. It has the numbers
-- that differ from what ships, by key.
CREATE TABLE plan_version (
  plan       TEXT NOT NULL,
  version    INTEGER NOT NULL,                 -- from 1
  numbers    TEXT NOT NULL,                    -- JSON
  user_id    TEXT,                             -- who made it; stays when they go
  created_at INTEGER NOT NULL,
  PRIMARY KEY (plan, version)
) STRICT;

CREATE TABLE person_numbers (
  user_id TEXT PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  numbers TEXT NOT NULL                        -- JSON
) STRICT;

-- Names are read from the accounts there are, so that an entry keeps no name of
-- somebody who has gone.
CREATE TABLE audit_event (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  at      INTEGER NOT NULL,
  by_id   TEXT NOT NULL,                       -- the administrator
  what    TEXT NOT NULL,
  user_id TEXT,                                -- whose account was changed
  plan    TEXT NOT NULL DEFAULT '',            -- or which plan
  was     TEXT,                                -- JSON: what changed, before
  became  TEXT                                 -- and after
) STRICT;

CREATE INDEX audit_event_user ON audit_event (user_id, id);
