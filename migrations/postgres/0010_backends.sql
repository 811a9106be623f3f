-- Model backends that administrators set up, beside the one of the settings.
-- api_key is sealed; key_end is what is shown of it. models are names by tier,
-- price is in US dollars a million tokens, max_tokens 0 is no bound.
CREATE TABLE model_backend (
  name        text PRIMARY KEY,
  title       text NOT NULL DEFAULT '',
  protocol    text NOT NULL,
  url         text NOT NULL DEFAULT '',
  model       text NOT NULL DEFAULT '',
  models      jsonb,
  api_version text NOT NULL DEFAULT '',
  api_key     bytea,
  key_end     text NOT NULL DEFAULT '',
  max_tokens  bigint NOT NULL DEFAULT 0,
  price       jsonb,
  choosable   boolean NOT NULL DEFAULT false,
  is_default  boolean NOT NULL DEFAULT false,
  created_at  timestamptz NOT NULL DEFAULT now(),
  updated_at  timestamptz NOT NULL DEFAULT now()
);

-- The backend of the settings has a row for what is chosen here: whether people
-- may choose it, and that it answers where nobody chose.
INSERT INTO model_backend (name, protocol, is_default) VALUES ('environment', '', true);

-- What administrators did to backends; the name of the backend stays when it goes.
CREATE TABLE model_backend_change (
  id         uuid PRIMARY KEY,
  backend    text NOT NULL,
  actor_id   uuid REFERENCES app_user (id) ON DELETE SET NULL,
  action     text NOT NULL,
  fields     jsonb,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX model_backend_change_time ON model_backend_change (created_at, id);
CREATE INDEX model_backend_change_actor ON model_backend_change (actor_id);

-- The backend its person chose; null: the one that answers where nobody chose.
ALTER TABLE conversation ADD COLUMN backend text;

-- Keys are among them: the program acts as the system on these, and lets
-- administrators through itself.
SELECT app_guard('model_backend', 'false');
SELECT app_guard('model_backend_change', 'false');
