-- Search in messages, and conversations kept on top of the list.
ALTER TABLE conversation ADD COLUMN pinned boolean NOT NULL DEFAULT false;

CREATE INDEX conversation_pinned ON conversation (user_id, pinned, updated_at, id);
DROP INDEX conversation_user; -- nothing lists by it any more

-- The words of a text as they are searched: lower case, without diacritics, not
-- stemmed, since a search is by their beginnings. Signs become spaces, because
-- the server's parser would take a path or an address for one word. A text
-- longer than a tsvector may be is found by its beginning.
CREATE FUNCTION message_lexemes(content text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_tsvector('simple', regexp_replace(
    regexp_replace(lower(normalize(left(content, 150000), NFKD)), '[\u0300-\u036f]', '', 'g'),
    '[!-/:-@\[-`{-~]', ' ', 'g'))
$$;

-- The messages whose words are indexed. That happens before their person searches
-- the next time, and not as they are written: a turn is spared it, and most
-- messages are never searched for.
CREATE TABLE message_words (
  message_id uuid PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
  user_id    uuid NOT NULL,
  words      tsvector NOT NULL
);

CREATE INDEX message_words_user ON message_words (user_id);

-- Words that are changed are indexed anew.
CREATE FUNCTION message_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM message_words WHERE message_id = new.id;
  RETURN NULL;
END $$;

CREATE TRIGGER message_changed AFTER UPDATE OF content ON message FOR EACH ROW EXECUTE FUNCTION message_changed();

SELECT app_guard('message_words', 'user_id = (SELECT app_person())');
