-- What turns of surfaces leave behind for administrators (GRND-28, GRND-30), one
-- row a turn, written with the turn itself and so before any model is asked. In
-- the redacted mode it has no word that anybody wrote. A turn that was refused
-- has a row too, under an id of its own.
CREATE TABLE turn_audit (
  turn_id            uuid PRIMARY KEY,
  user_id            uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  surface            text NOT NULL,
  session_id         text NOT NULL,
  started_at         timestamptz NOT NULL DEFAULT now(),
  finished_at        timestamptz,
  model              text NOT NULL,
  input_tokens       integer,
  output_tokens      integer,
  tool_calls         jsonb NOT NULL DEFAULT '[]',
  prompt_hash        text,
  response_hash      text,
  chip_count         integer NOT NULL DEFAULT 0,
  error_code         text,
  estimated_cost_usd numeric(10, 6),
  cap_lifted         boolean NOT NULL DEFAULT false,
  key_id             uuid,
  classifier_tag     text,
  duration_ms        bigint,
  user_message       text,
  response           text,
  response_tokens    integer,
  used_tools         jsonb,
  rows_seen          jsonb,
  page_origin        text,
  abandoned          boolean
);

CREATE INDEX turn_audit_user ON turn_audit (user_id, started_at DESC);
CREATE INDEX turn_audit_started ON turn_audit (started_at DESC);

-- How many turns a person, and everybody, had of a surface in an hour (GRND-32).
-- Whether there may be another is decided in the statement that counts it.
CREATE TABLE turn_count (
  user_id     uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  surface     text NOT NULL,
  hour_bucket timestamptz NOT NULL,
  turn_count  integer NOT NULL DEFAULT 0,
  PRIMARY KEY (user_id, surface, hour_bucket)
);

CREATE TABLE surface_count (
  surface     text NOT NULL,
  hour_bucket timestamptz NOT NULL,
  turn_count  integer NOT NULL DEFAULT 0,
  PRIMARY KEY (surface, hour_bucket)
);

SELECT app_guard('turn_audit', 'user_id = (SELECT app_person())', '(SELECT app_admin())');
SELECT app_guard('turn_count', 'user_id = (SELECT app_person())');
-- Numbers of everybody together, which each of them counts and may read.
SELECT app_guard('surface_count', '(SELECT app_person()) IS NOT NULL');

-- The names that the specification gives two of these tables. Who reads a view
-- sees the rows they would see of its table.
CREATE VIEW paliadin_turns WITH (security_invoker = true) AS SELECT * FROM turn_audit WHERE surface = 'paliadin';
CREATE VIEW paliadin_rate_limit WITH (security_invoker = true) AS SELECT user_id, hour_bucket, turn_count FROM turn_count WHERE surface = 'paliadin';
