-- The keys of runs of which nothing is kept. All that such a run leaves in rows,
-- histories, large values and live events is sealed with its key, and what was
-- sealed cannot be read by anybody once the row is gone. A key is there from
-- before the first word is written until a little after the run has ended, and
-- goes with the run, its conversation and its person.
CREATE TABLE run_key (
  id         TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  secret     BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  forget_at  INTEGER -- null: the run has not ended
) STRICT;

CREATE INDEX run_key_user ON run_key (user_id);
CREATE INDEX run_key_due ON run_key (forget_at) WHERE forget_at IS NOT NULL;
