-- What administrators decide: the numbers of plans, numbers of one person's
-- own, and the log of all of it.

-- Each change of a plan is a version; the latest holds. It has the numbers
-- that differ from what ships, by key.
CREATE TABLE plan_version (
  plan       text NOT NULL,
  version    bigint NOT NULL,
  numbers    json NOT NULL,
  user_id    uuid,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (plan, version)
);

CREATE TABLE person_numbers (
  user_id uuid PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  numbers json NOT NULL
);

-- Names are read from the accounts there are, so that an entry keeps no name of
-- somebody who has gone.
CREATE TABLE audit_event (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL DEFAULT now(),
  by_id   uuid NOT NULL,
  what    text NOT NULL,
  user_id uuid,
  plan    text NOT NULL DEFAULT '',
  was     json,
  became  json
);

CREATE INDEX audit_event_user ON audit_event (user_id, id);

-- Only the program itself looks into these; it tells administrators.
SELECT app_guard(t::regclass, 'false') FROM unnest(ARRAY['plan_version', 'person_numbers', 'audit_event']) AS t;
