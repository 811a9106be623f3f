-- Keys for programs. Of a key only its hash is kept; scopes, assistants and
-- tools are lists, of which an empty list of assistants is all of them. A key
-- that has ended keeps its row for a while: its person sees when it was used
-- last, and runs that were begun with it find that it has ended.
CREATE TABLE access_key (
  id           uuid PRIMARY KEY,
  user_id      uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  name         text NOT NULL,
  sha256       text NOT NULL,
  scopes       jsonb NOT NULL,
  assistants   jsonb,
  tools        jsonb,
  audience     text NOT NULL DEFAULT '',
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz NOT NULL,
  last_used_at timestamptz,
  revoked_at   timestamptz
);

CREATE INDEX access_key_user ON access_key (user_id, created_at, id);

-- The key a run was begun with; null: in a session, or by the system. It
-- outlives the key: a run whose key is gone may do nothing more.
ALTER TABLE run ADD COLUMN key_id uuid;

-- A conversation that programs hold which send all of it with each turn: it is
-- in no list and found by no search.
ALTER TABLE conversation ADD COLUMN unlisted boolean NOT NULL DEFAULT false;

SELECT app_guard('access_key', 'user_id = (SELECT app_person())');
