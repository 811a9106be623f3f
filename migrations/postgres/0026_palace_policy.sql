-- What is wished for blocks the capture proxy kept, by whom, and what could be set
-- aside of a history (docs/palace.md). All of it is one person's.

ALTER TABLE palace_block ADD COLUMN starred boolean NOT NULL DEFAULT false;
ALTER TABLE palace_block ADD COLUMN wish text NOT NULL DEFAULT ''; -- of its person: ++, -- or nothing
ALTER TABLE palace_block ADD COLUMN archived_at timestamptz;

CREATE INDEX palace_block_active ON palace_block (user_id, id) WHERE active;

-- The policy that a history follows from its beginning on, and its newest plan.
CREATE TABLE palace_plan (
  lineage_id     uuid PRIMARY KEY REFERENCES palace_lineage (id) ON DELETE CASCADE,
  user_id        uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  policy_id      uuid, -- null: the policy that ships
  policy_version bigint NOT NULL,
  exchanges      bigint NOT NULL, -- of the history, when it was made; 0: not yet
  plan           jsonb NOT NULL,
  asked_at       timestamptz, -- its person wants the epoch to open
  made_at        timestamptz NOT NULL
);

CREATE INDEX palace_plan_user ON palace_plan (user_id);
CREATE INDEX palace_plan_policy ON palace_plan (policy_id, policy_version);
CREATE INDEX palace_lineage_seen ON palace_lineage (user_id, seen_at);

-- What a model wishes for the blocks of a history.
CREATE TABLE palace_wish (
  lineage_id uuid NOT NULL REFERENCES palace_lineage (id) ON DELETE CASCADE,
  block_id   uuid NOT NULL REFERENCES palace_block (id) ON DELETE CASCADE,
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  wish       text NOT NULL,
  made_at    timestamptz NOT NULL,
  PRIMARY KEY (lineage_id, block_id)
);

CREATE INDEX palace_wish_block ON palace_wish (block_id);
CREATE INDEX palace_wish_user ON palace_wish (user_id);

-- Answers of models about windows of blocks, understood or not.
CREATE TABLE palace_classification (
  id         uuid PRIMARY KEY,
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  lineage_id uuid REFERENCES palace_lineage (id) ON DELETE CASCADE,
  who        text NOT NULL,
  shown      bigint NOT NULL, -- blocks of the window
  answer     text NOT NULL,
  refused    text NOT NULL, -- why it changed nothing
  took_us    bigint NOT NULL,
  made_at    timestamptz NOT NULL
);

CREATE INDEX palace_classification_user ON palace_classification (user_id, id);
CREATE INDEX palace_classification_lineage ON palace_classification (lineage_id);

CREATE TABLE palace_event (
  id         uuid PRIMARY KEY,
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  who        text NOT NULL, -- person, rules or model
  what       text NOT NULL,
  why        text NOT NULL,
  block_id   uuid,
  lineage_id uuid,
  made_at    timestamptz NOT NULL
);

CREATE INDEX palace_event_user ON palace_event (user_id, id);
CREATE INDEX palace_event_block ON palace_event (block_id, id);

SELECT app_guard(t::regclass, 'user_id = (SELECT app_person())') FROM unnest(ARRAY[
  'palace_plan', 'palace_wish', 'palace_classification', 'palace_event'
]) AS t;
