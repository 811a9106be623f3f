-- Search in messages, and conversations kept on top of the list.
ALTER TABLE conversation ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;

CREATE INDEX conversation_pinned ON conversation (user_id, pinned, updated_at, id);

-- The row of a message's words; never used twice.
CREATE TABLE message_words_row (
  number     INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id TEXT NOT NULL UNIQUE REFERENCES message (id) ON DELETE CASCADE
) STRICT;

-- scope holds one word for the person, so that a search reads postings of their
-- messages only. Words are not stemmed: a search is by their beginnings.
CREATE VIRTUAL TABLE message_words USING fts5 (
  scope, content,
  content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);

-- Whoever writes a message, also a program of the release before that goes on
-- beside this one, its words are found; whatever removes it, they go with it.
CREATE TRIGGER message_said AFTER INSERT ON message
BEGIN
  INSERT INTO message_words_row (message_id) VALUES (new.id);
  INSERT INTO message_words (rowid, scope, content)
    SELECT number, 's' || replace(new.user_id, '-', '') || '0', new.content FROM message_words_row WHERE message_id = new.id;
END;

CREATE TRIGGER message_changed AFTER UPDATE OF content ON message
BEGIN
  DELETE FROM message_words WHERE rowid = (SELECT number FROM message_words_row WHERE message_id = new.id);
  INSERT INTO message_words (rowid, scope, content)
    SELECT number, 's' || replace(new.user_id, '-', '') || '0', new.content FROM message_words_row WHERE message_id = new.id;
END;

CREATE TRIGGER message_words_row_gone AFTER DELETE ON message_words_row
BEGIN
  DELETE FROM message_words WHERE rowid = old.number;
END;

INSERT INTO message_words_row (message_id) SELECT id FROM message ORDER BY created_at, id;
INSERT INTO message_words (rowid, scope, content)
  SELECT r.number, 's' || replace(m.user_id, '-', '') || '0', m.content FROM message_words_row r JOIN message m ON m.id = r.message_id;
