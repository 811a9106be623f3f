-- Training of adapters: jobs with where they stand, versions of weights, the
-- events each was made of, and what is to be deleted from the disk.

ALTER TABLE training_job ADD COLUMN kind TEXT NOT NULL DEFAULT 'sft' CHECK (kind IN ('sft', 'distil'));
ALTER TABLE training_job ADD COLUMN stage TEXT NOT NULL DEFAULT 'queue'; -- what is done next; of one that ended, how it did
ALTER TABLE training_job ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;    -- rises with each claim
ALTER TABLE training_job ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE training_job ADD COLUMN run_id TEXT;                         -- of the latest claim
ALTER TABLE training_job ADD COLUMN cluster_id TEXT;                     -- null: of all answers
ALTER TABLE training_job ADD COLUMN base_sha TEXT NOT NULL DEFAULT '';
ALTER TABLE training_job ADD COLUMN priority INTEGER NOT NULL DEFAULT 0; -- class of its person's plan when it was claimed
ALTER TABLE training_job ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;   -- trained with
ALTER TABLE training_job ADD COLUMN reason TEXT NOT NULL DEFAULT '';     -- why it ended as it did, for people
ALTER TABLE training_job ADD COLUMN report TEXT;                         -- JSON, of the gate
ALTER TABLE training_job ADD COLUMN process TEXT NOT NULL DEFAULT '';    -- that has it
ALTER TABLE training_job ADD COLUMN not_before INTEGER;                  -- a failed one is tried again from then on
ALTER TABLE training_job ADD COLUMN started_at INTEGER;                  -- of the latest claim
ALTER TABLE training_job ADD COLUMN ended_at INTEGER;

-- One of a person runs, and one of an adapter waits.
CREATE UNIQUE INDEX training_job_running ON training_job (user_id) WHERE status = 'running';
CREATE UNIQUE INDEX training_job_waiting ON training_job (adapter_id) WHERE status = 'queued';
CREATE INDEX training_job_ended ON training_job (ended_at);

CREATE TABLE adapter_weights (
  adapter_id   TEXT NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  version      INTEGER NOT NULL,
  user_id      TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  sha256       TEXT NOT NULL DEFAULT '',         -- of params.json; '': it is being written
  base_sha     TEXT NOT NULL,
  rank         INTEGER NOT NULL,
  bytes        INTEGER NOT NULL DEFAULT 0,
  job_id       TEXT REFERENCES training_job (id) ON DELETE SET NULL,
  state        TEXT NOT NULL DEFAULT 'writing' CHECK (state IN ('writing', 'ready', 'applied', 'rolled_back', 'marked', 'erased')),
  path         TEXT NOT NULL,                    -- of its folder, below the shared one
  dataset_path TEXT NOT NULL DEFAULT '',         -- of what it was trained with
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  PRIMARY KEY (adapter_id, version)
) STRICT;

CREATE INDEX adapter_weights_user ON adapter_weights (user_id);
CREATE INDEX adapter_weights_job ON adapter_weights (job_id);

-- The events a version was made of, or measured with.
CREATE TABLE adapter_lineage (
  adapter_id TEXT NOT NULL,
  version    INTEGER NOT NULL,
  event_id   INTEGER NOT NULL REFERENCES preference_event (id) ON DELETE CASCADE,
  user_id    TEXT NOT NULL,                      -- whose event it is
  side       TEXT NOT NULL CHECK (side IN ('train', 'held_out')),
  PRIMARY KEY (adapter_id, version, event_id),
  FOREIGN KEY (adapter_id, version) REFERENCES adapter_weights (adapter_id, version) ON DELETE CASCADE
) STRICT;

CREATE INDEX adapter_lineage_event ON adapter_lineage (event_id);

-- Paths below the shared folder that a sweep deletes.
CREATE TABLE erasure (
  path   TEXT PRIMARY KEY,
  due_at INTEGER NOT NULL
) STRICT;

CREATE INDEX erasure_due ON erasure (due_at);

-- Who removes an event marks what was trained with it, in the transaction that
-- removes it, whatever removes it: this fires through cascades too. What it was
-- trained with is deleted: it holds what the person said.
CREATE TRIGGER adapter_lineage_gone AFTER DELETE ON adapter_lineage
BEGIN
  INSERT INTO erasure (path, due_at) SELECT w.dataset_path, unixepoch() * 1000000 FROM adapter_weights w
    WHERE w.adapter_id = old.adapter_id AND w.version = old.version AND w.dataset_path <> ''
    ON CONFLICT (path) DO UPDATE SET due_at = min(due_at, excluded.due_at);
  INSERT INTO erasure (path, due_at) SELECT w.path || '/batches', unixepoch() * 1000000 FROM adapter_weights w
    WHERE w.adapter_id = old.adapter_id AND w.version = old.version
    ON CONFLICT (path) DO UPDATE SET due_at = min(due_at, excluded.due_at);
  UPDATE adapter_weights SET state = 'marked', updated_at = unixepoch() * 1000000
    WHERE adapter_id = old.adapter_id AND version = old.version AND state <> 'erased';
END;

CREATE TRIGGER adapter_weights_gone AFTER DELETE ON adapter_weights
BEGIN
  INSERT INTO erasure (path, due_at) VALUES (old.path, unixepoch() * 1000000)
    ON CONFLICT (path) DO UPDATE SET due_at = min(due_at, excluded.due_at);
END;

CREATE TRIGGER training_job_gone AFTER DELETE ON training_job WHEN old.dataset_path IS NOT NULL AND old.dataset_path <> ''
BEGIN
  INSERT INTO erasure (path, due_at) VALUES (old.dataset_path, unixepoch() * 1000000)
    ON CONFLICT (path) DO UPDATE SET due_at = min(due_at, excluded.due_at);
END;
