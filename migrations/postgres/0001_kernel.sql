-- The kernel's tables: accounts, chat, runs and their questions, artifacts.
--
-- The same tables and columns as migrations/sqlite/0001, number by number.
-- Times are timestamptz and ids are uuid. Small JSON that operators look
-- into (meta, flags) is jsonb; a document that is given back (schema, input,
-- trace, answer) is json, which keeps it to the byte, so that a person finds
-- the keys of a workflow in the order they wrote them. Emails are
-- lower-cased by the program, so text does what citext would. An address that
-- a proxy passes on is not always an inet, so ip_addr is text: a sign-in must
-- not fail for it.
--
-- Two roles: the one that migrates owns everything; the one that the program
-- runs as owns nothing and sees what row-level security lets it see. Security
-- is FORCEd, so the owner sees no more by accident. Whoever a transaction is
-- for stands in three settings that the program sets when it begins it:
-- app.user_id, app.admin and app.system.

CREATE FUNCTION app_person() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
  -- A setting that was local to an earlier transaction reads as '', not as NULL.
  AS $$ SELECT nullif(current_setting('app.user_id', true), '')::uuid $$;

CREATE FUNCTION app_admin() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT coalesce(current_setting('app.admin', true), '') = 'on' OR coalesce(current_setting('app.system', true), '') = 'on' $$;

CREATE FUNCTION app_system() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT coalesce(current_setting('app.system', true), '') = 'on' $$;

-- app_guard closes a table: a row is for whom mine holds for, or for the system.
-- For the others, theirs says what they may at least read.
CREATE FUNCTION app_guard(what regclass, mine text, theirs text DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', what);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', what);
  EXECUTE format('CREATE POLICY mine ON %s USING ((SELECT app_system()) OR (%s)) WITH CHECK ((SELECT app_system()) OR (%s))', what, mine, mine);
  IF theirs IS NOT NULL THEN
    EXECUTE format('CREATE POLICY theirs ON %s FOR SELECT USING (%s)', what, theirs);
  END IF;
END $$;

-- app_grant gives the program's role what it needs, now and of what later
-- migrations make.
CREATE FUNCTION app_grant(program name) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  f regprocedure;
BEGIN
  IF program = current_user THEN
    RETURN; -- the owner has everything, and must keep the ledger
  END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', program);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO %I', program);
  EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO %I', program);
  EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO %I', program);
  EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO %I', program);
  EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON migration FROM %I', program); -- the ledger is the owner's
  FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname LIKE 'search\_%' LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, program);
  END LOOP;
END $$;

REVOKE EXECUTE ON FUNCTION app_guard, app_grant FROM PUBLIC;

CREATE TABLE app_user (
  id          uuid PRIMARY KEY,
  email       text NOT NULL UNIQUE,
  handle      text NOT NULL DEFAULT '',
  role        text NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'power', 'admin')),
  plan_tier   text NOT NULL DEFAULT 'free',
  is_active   boolean NOT NULL DEFAULT true,
  created_at  timestamptz NOT NULL DEFAULT now(),
  meta        jsonb
);

CREATE TABLE user_auth_credential (
  user_id         uuid PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  password_hash   text,
  password_algo   text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  last_updated_at timestamptz
);

CREATE TABLE user_settings (
  user_id       uuid PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  locale        text,
  timezone      text,
  default_voice text,
  default_style text,
  flags         jsonb
);

CREATE TABLE auth_session (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  refresh_hash text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL,
  revoked_at   timestamptz,
  user_agent   text NOT NULL DEFAULT '',
  ip_addr      text NOT NULL DEFAULT '',
  meta         jsonb
);

CREATE INDEX auth_session_user ON auth_session (user_id);

CREATE TABLE conversation (
  id                uuid PRIMARY KEY,
  user_id           uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  title             text NOT NULL DEFAULT '',
  status            text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'archived')),
  active_context_id uuid,
  last_seq          bigint NOT NULL DEFAULT 0,
  created_at        timestamptz NOT NULL DEFAULT now(),
  updated_at        timestamptz NOT NULL DEFAULT now(),
  meta              jsonb
);

CREATE INDEX conversation_user ON conversation (user_id, updated_at, id);

CREATE TABLE message (
  id              uuid PRIMARY KEY,
  conversation_id uuid NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
  user_id         uuid NOT NULL,
  run_id          uuid,
  sender          text NOT NULL CHECK (sender IN ('user', 'assistant', 'system', 'tool')),
  role            text NOT NULL,
  content         text NOT NULL,
  content_struct  json,
  seq             bigint NOT NULL,
  suppressed      boolean NOT NULL DEFAULT false,
  created_at      timestamptz NOT NULL DEFAULT now(),
  token_count_in  bigint NOT NULL DEFAULT 0,
  token_count_out bigint NOT NULL DEFAULT 0,
  meta            jsonb
);

CREATE UNIQUE INDEX message_seq ON message (conversation_id, seq);

CREATE TABLE run (
  id              uuid PRIMARY KEY,
  user_id         uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  workflow_id     text NOT NULL,
  kind            text NOT NULL,
  conversation_id uuid REFERENCES conversation (id) ON DELETE CASCADE,
  request_id      text,
  status          text NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled')),
  input           json,
  pins            json,
  result          json,
  error           json,
  trace           json,
  next_run_id     uuid,
  created_at      timestamptz NOT NULL DEFAULT now(),
  started_at      timestamptz,
  ended_at        timestamptz
);

CREATE UNIQUE INDEX run_request ON run (user_id, request_id) WHERE request_id IS NOT NULL;
CREATE UNIQUE INDEX run_workflow ON run (workflow_id) WHERE status IN ('queued', 'running', 'waiting');
CREATE INDEX run_conversation ON run (conversation_id);
CREATE INDEX run_open ON run (user_id, conversation_id, created_at, id) WHERE status IN ('queued', 'running', 'waiting');
CREATE INDEX run_user ON run (user_id, created_at, id);
CREATE INDEX run_user_running ON run (user_id, kind) WHERE status = 'running';
CREATE INDEX run_queued ON run (created_at) WHERE status = 'queued';
CREATE INDEX run_unfinished ON run (started_at, id) WHERE status IN ('running', 'waiting');

CREATE TABLE interrupt (
  id              uuid PRIMARY KEY,
  run_id          uuid NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  user_id         uuid NOT NULL,
  workflow_id     text NOT NULL,
  effect_id       text NOT NULL,
  conversation_id uuid,
  type            text NOT NULL,
  message         text NOT NULL,
  options         json,
  answer_schema   json,
  status          text NOT NULL CHECK (status IN ('pending', 'answered', 'cancelled', 'expired')),
  answer          json,
  delivered       boolean NOT NULL DEFAULT false,
  created_at      timestamptz NOT NULL DEFAULT now(),
  answered_at     timestamptz,
  expires_at      timestamptz
);

CREATE INDEX interrupt_run ON interrupt (run_id);
CREATE INDEX interrupt_pending ON interrupt (user_id, created_at, id) WHERE status = 'pending';
CREATE INDEX interrupt_undelivered ON interrupt (answered_at, id) WHERE NOT delivered AND status <> 'pending';

CREATE TABLE blob (
  id         uuid PRIMARY KEY,
  run_id     uuid NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  user_id    uuid NOT NULL,
  value      bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX blob_run ON blob (run_id);

CREATE TABLE artifact (
  id            uuid PRIMARY KEY,
  owner_user_id uuid REFERENCES app_user (id), -- no cascade (DATA-01): removing an account is asked what becomes of them
  type          text NOT NULL,
  name          text NOT NULL,
  description   text NOT NULL DEFAULT '',
  visibility    text NOT NULL DEFAULT 'private' CHECK (visibility IN ('private', 'shared', 'global')),
  version       bigint NOT NULL,
  schema        json NOT NULL,
  fs_path       text NOT NULL DEFAULT '',
  created_by    text NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  meta          jsonb
);

CREATE UNIQUE INDEX artifact_name ON artifact (coalesce(owner_user_id, '00000000-0000-0000-0000-000000000000'), type, name);
CREATE INDEX artifact_type_name ON artifact (type, name);
CREATE INDEX artifact_owner ON artifact (owner_user_id, updated_at, id);
CREATE INDEX artifact_global ON artifact (updated_at, id) WHERE visibility = 'global';

CREATE TABLE artifact_version (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  artifact_id uuid NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  version     bigint NOT NULL,
  schema      json NOT NULL,
  fs_path     text NOT NULL DEFAULT '',
  created_at  timestamptz NOT NULL DEFAULT now(),
  created_by  text NOT NULL CHECK (created_by IN ('system', 'user', 'llm')),
  change_note text NOT NULL DEFAULT ''
);

CREATE UNIQUE INDEX artifact_version_number ON artifact_version (artifact_id, version);

CREATE TABLE idempotency (
  user_id    uuid NOT NULL,
  route      text NOT NULL,
  key        text NOT NULL,
  body_hash  text NOT NULL,
  holder     text NOT NULL,
  status     bigint NOT NULL DEFAULT 0,
  body       bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, route, key)
);

CREATE TABLE counter (
  name  text PRIMARY KEY,
  value bigint NOT NULL
);

CREATE TABLE secret (
  name       text PRIMARY KEY,
  value      bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Each (SELECT app_person()) is worked out once a query and not once a row.
SELECT app_guard('app_user', 'id = (SELECT app_person())');
SELECT app_guard(t::regclass, 'user_id = (SELECT app_person())') FROM unnest(ARRAY[
  'user_auth_credential', 'user_settings', 'auth_session', 'conversation', 'message', 'run', 'interrupt', 'blob', 'idempotency'
]) AS t;
-- What is global everybody reads, and an administrator changes.
SELECT app_guard('artifact',
  'owner_user_id = (SELECT app_person()) OR (SELECT app_admin()) AND visibility = ''global''',
  'visibility = ''global''');
-- A version goes with its artifact, whose own policies hold inside.
SELECT app_guard('artifact_version',
  'EXISTS (SELECT 1 FROM artifact a WHERE a.id = artifact_id AND (a.owner_user_id = (SELECT app_person()) OR (SELECT app_admin()) AND a.visibility = ''global''))',
  'EXISTS (SELECT 1 FROM artifact a WHERE a.id = artifact_id)');
-- Nobody's: the program acts as the system on these.
SELECT app_guard('counter', 'false');
SELECT app_guard('secret', 'false');
