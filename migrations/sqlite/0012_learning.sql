-- What is learnt of people as text: what they allow, their situations, lessons
-- with the events they came from, and which adapters a run followed.

-- What a person allows, and how far their events were read. A row is made when
-- they say the first thing of an answer.
CREATE TABLE learning_settings (
  user_id       TEXT PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  personal      INTEGER NOT NULL DEFAULT 1,    -- their own answers may change
  shared        INTEGER NOT NULL DEFAULT 0,    -- their events may be read for everybody's situations
  by_rule       INTEGER NOT NULL DEFAULT 1,    -- adapters of their own change once the gate is passed
  seen_event_id INTEGER NOT NULL DEFAULT 0,    -- the last event a run read
  waiting       INTEGER NOT NULL DEFAULT 0,    -- there may be events after it
  dirty         INTEGER NOT NULL DEFAULT 0,    -- an event that was read is gone, or counts no more
  updated_at    INTEGER NOT NULL
) STRICT;

-- Who may be due is found without reading events, and who shares theirs.
CREATE INDEX learning_settings_due ON learning_settings (user_id, dirty, updated_at) WHERE waiting OR dirty;
CREATE INDEX learning_settings_shared ON learning_settings (user_id) WHERE shared;

INSERT INTO learning_settings (user_id, waiting, updated_at) SELECT DISTINCT user_id, 1, unixepoch() * 1000000 FROM preference_event;

ALTER TABLE preference_event ADD COLUMN excluded INTEGER NOT NULL DEFAULT 0;
ALTER TABLE preference_event ADD COLUMN situation TEXT NOT NULL DEFAULT ''; -- the task in a few words, by a model

-- What of a person's events is unread, and their newest, are found by it.
CREATE INDEX preference_event_number ON preference_event (user_id, id);

ALTER TABLE semantic_cluster ADD COLUMN status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'retired'));
ALTER TABLE semantic_cluster ADD COLUMN reach REAL NOT NULL DEFAULT 1;      -- the cosine from which a turn belongs to it
ALTER TABLE semantic_cluster ADD COLUMN strength REAL NOT NULL DEFAULT 0;   -- 0 to 1
ALTER TABLE semantic_cluster ADD COLUMN encoder TEXT NOT NULL DEFAULT '';   -- of the centroid
ALTER TABLE semantic_cluster ADD COLUMN label_by TEXT NOT NULL DEFAULT '';  -- rule, model or person; '': it has none

CREATE TABLE lesson (
  id         TEXT PRIMARY KEY,
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  adapter_id TEXT REFERENCES artifact (id) ON DELETE SET NULL,
  cluster_id TEXT REFERENCES semantic_cluster (id) ON DELETE CASCADE, -- null: of all answers
  text       TEXT NOT NULL,
  directive  TEXT,                             -- JSON {kind, value}
  strength   REAL NOT NULL DEFAULT 0,
  state      TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'off', 'rejected')),
  made_by    TEXT NOT NULL CHECK (made_by IN ('rule', 'model', 'person')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX lesson_user ON lesson (user_id, created_at, id);
CREATE INDEX lesson_adapter ON lesson (adapter_id);
CREATE INDEX lesson_cluster ON lesson (cluster_id);

CREATE TABLE lesson_source (
  lesson_id TEXT NOT NULL REFERENCES lesson (id) ON DELETE CASCADE,
  event_id  INTEGER NOT NULL REFERENCES preference_event (id) ON DELETE CASCADE,
  PRIMARY KEY (lesson_id, event_id)
) STRICT;

CREATE INDEX lesson_source_event ON lesson_source (event_id);

-- What a run's models were asked with, and how much of it.
CREATE TABLE adapter_run (
  run_id     TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  adapter_id TEXT NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  version    INTEGER NOT NULL,                 -- of the artifact
  weight     REAL NOT NULL,                    -- its gate, 0 to 1
  at         INTEGER NOT NULL,
  PRIMARY KEY (run_id, adapter_id)
) STRICT;

CREATE INDEX adapter_run_adapter ON adapter_run (adapter_id, at);

-- An event takes with it what was learnt from it alone, in the transaction that
-- removes it, whatever removes it: these fire through cascades too.
CREATE TRIGGER lesson_source_gone AFTER DELETE ON lesson_source
BEGIN
  DELETE FROM lesson WHERE id = old.lesson_id AND NOT EXISTS (SELECT 1 FROM lesson_source s WHERE s.lesson_id = old.lesson_id);
END;

-- Whose account goes has no row left to mark.
CREATE TRIGGER preference_event_gone AFTER DELETE ON preference_event
BEGIN
  INSERT INTO learning_settings (user_id, dirty, updated_at)
    SELECT u.id, 1, unixepoch() * 1000000 FROM app_user u WHERE u.id = old.user_id
    ON CONFLICT (user_id) DO UPDATE SET dirty = 1;
END;

CREATE TRIGGER preference_event_made AFTER INSERT ON preference_event
BEGIN
  INSERT INTO learning_settings (user_id, waiting, updated_at) VALUES (new.user_id, 1, unixepoch() * 1000000)
    ON CONFLICT (user_id) DO UPDATE SET waiting = 1;
END;
