-- A lesson that its person removed is not read out of the same notes again. What
-- it said is gone; the row stays as long as one of its notes does.

ALTER TABLE lesson ADD COLUMN removed_at INTEGER;
