-- What is learnt of people as text: what they allow, their situations, lessons
-- with the events they came from, and which adapters a run followed.

-- What a person allows, and how far their events were read (seen_event_id; what
-- came later: waiting; what was read and is gone: dirty). A row is made when
-- they say the first thing of an answer.
CREATE TABLE learning_settings (
  user_id       uuid PRIMARY KEY REFERENCES app_user (id) ON DELETE CASCADE,
  personal      boolean NOT NULL DEFAULT true,
  shared        boolean NOT NULL DEFAULT false,
  by_rule       boolean NOT NULL DEFAULT true,
  seen_event_id bigint NOT NULL DEFAULT 0,
  waiting       boolean NOT NULL DEFAULT false,
  dirty         boolean NOT NULL DEFAULT false,
  updated_at    timestamptz NOT NULL DEFAULT now()
);

-- Who may be due is found without reading events, and who shares theirs.
CREATE INDEX learning_settings_due ON learning_settings (user_id, dirty, updated_at) WHERE waiting OR dirty;
CREATE INDEX learning_settings_shared ON learning_settings (user_id) WHERE shared;

INSERT INTO learning_settings (user_id, waiting) SELECT DISTINCT user_id, true FROM preference_event;

ALTER TABLE preference_event ADD COLUMN excluded boolean NOT NULL DEFAULT false;
ALTER TABLE preference_event ADD COLUMN situation text NOT NULL DEFAULT '';

-- What of a person's events is unread, and their newest, are found by it.
CREATE INDEX preference_event_number ON preference_event (user_id, id);

ALTER TABLE semantic_cluster ADD COLUMN status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'retired'));
ALTER TABLE semantic_cluster ADD COLUMN reach double precision NOT NULL DEFAULT 1;
ALTER TABLE semantic_cluster ADD COLUMN strength double precision NOT NULL DEFAULT 0;
ALTER TABLE semantic_cluster ADD COLUMN encoder text NOT NULL DEFAULT '';
ALTER TABLE semantic_cluster ADD COLUMN label_by text NOT NULL DEFAULT '';

CREATE TABLE lesson (
  id         uuid PRIMARY KEY,
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  adapter_id uuid REFERENCES artifact (id) ON DELETE SET NULL,
  cluster_id uuid REFERENCES semantic_cluster (id) ON DELETE CASCADE,
  text       text NOT NULL,
  directive  jsonb,
  strength   double precision NOT NULL DEFAULT 0,
  state      text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'off', 'rejected')),
  made_by    text NOT NULL CHECK (made_by IN ('rule', 'model', 'person')),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX lesson_user ON lesson (user_id, created_at, id);
CREATE INDEX lesson_adapter ON lesson (adapter_id);
CREATE INDEX lesson_cluster ON lesson (cluster_id);

CREATE TABLE lesson_source (
  lesson_id uuid NOT NULL REFERENCES lesson (id) ON DELETE CASCADE,
  event_id  bigint NOT NULL REFERENCES preference_event (id) ON DELETE CASCADE,
  PRIMARY KEY (lesson_id, event_id)
);

CREATE INDEX lesson_source_event ON lesson_source (event_id);

-- What a run's models were asked with, and how much of it.
CREATE TABLE adapter_run (
  run_id     uuid NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  adapter_id uuid NOT NULL REFERENCES artifact (id) ON DELETE CASCADE,
  version    bigint NOT NULL,
  weight     double precision NOT NULL,
  at         timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (run_id, adapter_id)
);

CREATE INDEX adapter_run_adapter ON adapter_run (adapter_id, at);

SELECT app_guard(t::regclass, 'user_id = (SELECT app_person())') FROM unnest(ARRAY['learning_settings', 'lesson']) AS t;
-- A source goes with its lesson, whose own policies hold inside.
SELECT app_guard('lesson_source', 'EXISTS (SELECT 1 FROM lesson l WHERE l.id = lesson_id)');
-- The program counts; people read what their own runs followed.
SELECT app_guard('adapter_run', 'false', 'EXISTS (SELECT 1 FROM run r WHERE r.id = run_id AND r.user_id = (SELECT app_person()))');

-- An event takes with it what was learnt from it alone, in the transaction that
-- removes it, whatever removes it: these fire through cascades too. They run as
-- the tables' owner, so that what is erased does not depend on who erases it.

CREATE POLICY erasure ON learning_settings TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY erasure ON lesson TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY erasure ON lesson_source TO CURRENT_USER USING (true) WITH CHECK (true);
CREATE POLICY erasure ON app_user FOR SELECT TO CURRENT_USER USING (true);

-- Of two transactions that remove the last two sources of a lesson each still
-- sees the other's: the lock lets the second one see that it is the last.
CREATE FUNCTION lesson_source_gone() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM 1 FROM lesson WHERE id = old.lesson_id FOR UPDATE;
  DELETE FROM lesson WHERE id = old.lesson_id AND NOT EXISTS (SELECT 1 FROM lesson_source s WHERE s.lesson_id = old.lesson_id);
  RETURN NULL;
END $$;

CREATE TRIGGER lesson_source_gone AFTER DELETE ON lesson_source FOR EACH ROW EXECUTE FUNCTION lesson_source_gone();

-- Whose account goes has no row left to mark.
CREATE FUNCTION preference_event_gone() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO learning_settings (user_id, dirty) SELECT u.id, true FROM app_user u WHERE u.id = old.user_id
    ON CONFLICT (user_id) DO UPDATE SET dirty = true;
  RETURN NULL;
END $$;

CREATE TRIGGER preference_event_gone AFTER DELETE ON preference_event FOR EACH ROW EXECUTE FUNCTION preference_event_gone();

CREATE FUNCTION preference_event_made() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO learning_settings (user_id, waiting) VALUES (new.user_id, true)
    ON CONFLICT (user_id) DO UPDATE SET waiting = true;
  RETURN NULL;
END $$;

CREATE TRIGGER preference_event_made AFTER INSERT ON preference_event FOR EACH ROW EXECUTE FUNCTION preference_event_made();

-- Triggers fire without leave to call what they run, and nobody else calls it.
REVOKE EXECUTE ON FUNCTION lesson_source_gone, preference_event_gone, preference_event_made FROM PUBLIC;
