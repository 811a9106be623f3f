-- Search in messages, and conversations kept on top of the list.
ALTER TABLE conversation ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;

CREATE INDEX conversation_pinned ON conversation (user_id, pinned, updated_at, id);
DROP INDEX conversation_user; -- nothing lists by it any more

-- A message whose words are indexed; its row is never used twice. That happens
-- before its person searches the next time, and not as it is written: a turn is
-- spared it, and most messages are never searched for.
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

CREATE TRIGGER message_words_row_made AFTER INSERT ON message_words_row
BEGIN
  INSERT INTO message_words (rowid, scope, content)
    SELECT new.number, 's' || replace(user_id, '-', '') || '0', content FROM message WHERE id = new.message_id;
END;

CREATE TRIGGER message_words_row_gone AFTER DELETE ON message_words_row
BEGIN
  DELETE FROM message_words WHERE rowid = old.number;
END;

-- Words that are changed are indexed anew; those of a message that is removed go
-- with it.
CREATE TRIGGER message_changed AFTER UPDATE OF content ON message
BEGIN
  DELETE FROM message_words_row WHERE message_id = new.id;
END;
