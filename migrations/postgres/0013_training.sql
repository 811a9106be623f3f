-- Training of adapters: jobs with where they stand, versions of weights, the
-- events each was made of, and what is to be deleted from the disk. The columns
-- are told in the file of SQLite.

ALTER TABLE training_job
  ADD COLUMN kind text NOT NULL DEFAULT 'sft' CHECK (kind IN ('sft', 'distil')),
  ADD COLUMN stage text NOT NULL DEFAULT 'queue',
  ADD COLUMN fence bigint NOT NULL DEFAULT 0,
  ADD COLUMN attempts bigint NOT NULL DEFAULT 0,
  ADD COLUMN run_id uuid,
  ADD COLUMN cluster_id uuid,
  ADD COLUMN base_sha text NOT NULL DEFAULT '',
  ADD COLUMN priority bigint NOT NULL DEFAULT 0,
  ADD COLUMN tokens bigint NOT NULL DEFAULT 0,
  ADD COLUMN reason text NOT NULL DEFAULT '',
  ADD COLUMN report jsonb,
  ADD COLUMN process text NOT NULL DEFAULT '',
  ADD COLUMN not_before timestamptz,
  ADD COLUMN started_at timestamptz,
  ADD COLUMN ended_at timestamptz;

-- One of a person runs, and one of an adapter waits.
CREATE UNIQUE INDEX training_job_running ON training_job (user_id) WHERE status = 'running';
CREATE UNIQUE INDEX training_job_waiting ON training_job (adapter_id) WHERE status = 'queued';
CREATE INDEX training_job_ended ON training_job (ended_at);

CREATE TABLE adapter_weights (
  adapter_id   uuid NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  version      bigint NOT NULL,
  user_id      uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  sha256       text NOT NULL DEFAULT '',
  base_sha     text NOT NULL,
  rank         bigint NOT NULL,
  bytes        bigint NOT NULL DEFAULT 0,
  job_id       uuid REFERENCES training_job (id) ON DELETE SET NULL,
  state        text NOT NULL DEFAULT 'writing' CHECK (state IN ('writing', 'ready', 'applied', 'rolled_back', 'marked', 'erased')),
  path         text NOT NULL,
  dataset_path text NOT NULL DEFAULT '',
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (adapter_id, version)
);

CREATE INDEX adapter_weights_user ON adapter_weights (user_id);
CREATE INDEX adapter_weights_job ON adapter_weights (job_id);

-- The events a version was made of, or measured with. The reference also keeps
-- an event that is being removed from being listed.
CREATE TABLE adapter_lineage (
  adapter_id uuid NOT NULL,
  version    bigint NOT NULL,
  event_id   bigint NOT NULL REFERENCES preference_event (id) ON DELETE CASCADE,
  user_id    uuid NOT NULL,
  side       text NOT NULL CHECK (side IN ('train', 'held_out')),
  PRIMARY KEY (adapter_id, version, event_id),
  FOREIGN KEY (adapter_id, version) REFERENCES adapter_weights (adapter_id, version) ON DELETE CASCADE
);

CREATE INDEX adapter_lineage_event ON adapter_lineage (event_id);

-- Paths below the shared folder that a sweep deletes.
CREATE TABLE erasure (
  path   text PRIMARY KEY,
  due_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX erasure_due ON erasure (due_at);

SELECT app_guard(t::regclass, 'user_id = (SELECT app_person())') FROM unnest(ARRAY['adapter_weights', 'adapter_lineage']) AS t;
-- Nobody's: the program acts as the system on it.
SELECT app_guard('erasure', 'false');

-- Who removes an event marks what was trained with it, in the transaction that
-- removes it, whatever removes it: these fire through cascades too, and run as
-- the tables' owner. What it was trained with is deleted: it holds what the
-- person said.

CREATE POLICY erasure ON adapter_weights TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY erasure ON adapter_lineage TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY erasure ON erasure TO CURRENT_USER USING (true) WITH CHECK (true);

CREATE FUNCTION adapter_lineage_gone() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO erasure (path) SELECT w.dataset_path FROM adapter_weights w
    WHERE w.adapter_id = old.adapter_id AND w.version = old.version AND w.dataset_path <> ''
    ON CONFLICT (path) DO UPDATE SET due_at = least(erasure.due_at, excluded.due_at);
  INSERT INTO erasure (path) SELECT w.path || '/batches' FROM adapter_weights w
    WHERE w.adapter_id = old.adapter_id AND w.version = old.version
    ON CONFLICT (path) DO UPDATE SET due_at = least(erasure.due_at, excluded.due_at);
  UPDATE adapter_weights SET state = 'marked', updated_at = now()
    WHERE adapter_id = old.adapter_id AND version = old.version AND state <> 'erased';
  RETURN NULL;
END $$;

CREATE TRIGGER adapter_lineage_gone AFTER DELETE ON adapter_lineage FOR EACH ROW EXECUTE FUNCTION adapter_lineage_gone();

CREATE FUNCTION adapter_weights_gone() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO erasure (path) VALUES (old.path) ON CONFLICT (path) DO UPDATE SET due_at = least(erasure.due_at, excluded.due_at);
  RETURN NULL;
END $$;

CREATE TRIGGER adapter_weights_gone AFTER DELETE ON adapter_weights FOR EACH ROW EXECUTE FUNCTION adapter_weights_gone();

CREATE FUNCTION training_job_gone() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO erasure (path) VALUES (old.dataset_path) ON CONFLICT (path) DO UPDATE SET due_at = least(erasure.due_at, excluded.due_at);
  RETURN NULL;
END $$;

CREATE TRIGGER training_job_gone AFTER DELETE ON training_job FOR EACH ROW
  WHEN (old.dataset_path IS NOT NULL AND old.dataset_path <> '') EXECUTE FUNCTION training_job_gone();

-- Triggers fire without leave to call what they run, and nobody else calls it.
REVOKE EXECUTE ON FUNCTION adapter_lineage_gone, adapter_weights_gone, training_job_gone FROM PUBLIC;
