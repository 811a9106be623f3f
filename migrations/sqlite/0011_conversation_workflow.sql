-- The workflow its person chose, by id or name; null: chosen by what is bound.
ALTER TABLE conversation ADD COLUMN workflow TEXT;
