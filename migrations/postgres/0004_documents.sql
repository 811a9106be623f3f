-- What the document assistant and budgets ask for: sets of documents, titles
-- that people give, and what model calls used.

-- A title a person gave stays when the file is read again.
ALTER TABLE document ADD COLUMN titled boolean NOT NULL DEFAULT false;
CREATE INDEX document_newest ON document (user_id, created_at, id);

CREATE TABLE document_set (
  id         uuid PRIMARY KEY,
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  title      text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX document_set_user ON document_set (user_id, updated_at, id);

CREATE TABLE document_set_document (
  set_id      uuid NOT NULL REFERENCES document_set (id) ON DELETE CASCADE,
  document_id uuid NOT NULL REFERENCES document (id) ON DELETE CASCADE,
  user_id     uuid NOT NULL,
  position    bigint NOT NULL,
  PRIMARY KEY (set_id, document_id)
);

CREATE INDEX document_set_document_document ON document_set_document (document_id);

-- One row for each person, day (UTC) and model, so that a budget is checked by
-- reading a few rows. What was spent stays when its conversation is deleted.
CREATE TABLE spend (
  user_id       uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  day           text COLLATE "C" NOT NULL,
  model         text COLLATE "C" NOT NULL,
  calls         bigint NOT NULL,
  input_tokens  bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cost_usd      double precision NOT NULL,
  PRIMARY KEY (user_id, day, model)
);

-- What is in spend already: a call that is told again is counted once.
CREATE TABLE spend_call (
  run_id          uuid NOT NULL,
  effect_id       text COLLATE "C" NOT NULL,
  attempt         bigint NOT NULL,
  model           text COLLATE "C" NOT NULL,
  user_id         uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  conversation_id uuid,
  calls           bigint NOT NULL,
  input_tokens    bigint NOT NULL,
  output_tokens   bigint NOT NULL,
  cost_usd        double precision NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (run_id, effect_id, attempt, model)
);

CREATE INDEX spend_call_conversation ON spend_call (conversation_id);
CREATE INDEX spend_call_user ON spend_call (user_id);

SELECT app_guard(t::regclass, 'user_id = (SELECT app_person())') FROM unnest(ARRAY['document_set', 'spend', 'spend_call']) AS t;
-- A person's own row is not enough: the set must be theirs too.
SELECT app_guard('document_set_document', 'user_id = (SELECT app_person()) AND EXISTS (SELECT 1 FROM document_set s WHERE s.id = set_id)');
