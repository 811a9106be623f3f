-- What is wished for blocks the capture proxy kept, by whom, and what could be set
-- aside of a history (docs/palace.md). All of it is one person's.

ALTER TABLE palace_block ADD COLUMN starred INTEGER NOT NULL DEFAULT 0;
ALTER TABLE palace_block ADD COLUMN wish TEXT NOT NULL DEFAULT ''; -- of its person: ++, -- or nothing
ALTER TABLE palace_block ADD COLUMN archived_at INTEGER;

CREATE INDEX palace_block_active ON palace_block (user_id, id) WHERE active;

-- The policy that a history follows from its beginning on, and its newest plan.
CREATE TABLE palace_plan (
  lineage_id     TEXT PRIMARY KEY REFERENCES palace_lineage (id) ON DELETE CASCADE,
  user_id        TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  policy_id      TEXT, -- null: the policy that ships
  policy_version INTEGER NOT NULL,
  exchanges      INTEGER NOT NULL, -- of the history, when it was made; 0: not yet
  plan           TEXT NOT NULL,
  asked_at       INTEGER, -- its person wants the epoch to open
  made_at        INTEGER NOT NULL
) STRICT;

CREATE INDEX palace_plan_user ON palace_plan (user_id);
CREATE INDEX palace_plan_policy ON palace_plan (policy_id, policy_version);
CREATE INDEX palace_lineage_seen ON palace_lineage (user_id, seen_at);

-- What a model wishes for the blocks of a history.
CREATE TABLE palace_wish (
  lineage_id TEXT NOT NULL REFERENCES palace_lineage (id) ON DELETE CASCADE,
  block_id   TEXT NOT NULL REFERENCES palace_block (id) ON DELETE CASCADE,
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  wish       TEXT NOT NULL,
  made_at    INTEGER NOT NULL,
  PRIMARY KEY (lineage_id, block_id)
) STRICT;

CREATE INDEX palace_wish_block ON palace_wish (block_id);
CREATE INDEX palace_wish_user ON palace_wish (user_id);

-- Answers of models about windows of blocks, understood or not.
CREATE TABLE palace_classification (
  id         TEXT PRIMARY KEY,
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  lineage_id TEXT REFERENCES palace_lineage (id) ON DELETE CASCADE,
  who        TEXT NOT NULL,
  shown      INTEGER NOT NULL, -- blocks of the window
  answer     TEXT NOT NULL,
  refused    TEXT NOT NULL, -- why it changed nothing
  took_us    INTEGER NOT NULL,
  made_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX palace_classification_user ON palace_classification (user_id, id);
CREATE INDEX palace_classification_lineage ON palace_classification (lineage_id);

CREATE TABLE palace_event (
  id         TEXT PRIMARY KEY,
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  who        TEXT NOT NULL, -- person, rules or model
  what       TEXT NOT NULL,
  why        TEXT NOT NULL,
  block_id   TEXT,
  lineage_id TEXT,
  made_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX palace_event_user ON palace_event (user_id, id);
CREATE INDEX palace_event_block ON palace_event (block_id, id);
