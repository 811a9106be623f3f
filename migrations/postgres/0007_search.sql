-- Search in messages, and conversations kept on top of the list.
ALTER TABLE conversation ADD COLUMN pinned boolean NOT NULL DEFAULT false;

CREATE INDEX conversation_pinned ON conversation (user_id, pinned, updated_at, id);

-- The words of a text as they are searched: lower case, without diacritics, not
-- stemmed, since a search is by their beginnings. Signs become spaces, because
-- the server's parser would take a path or an address for one word. A text
-- longer than a tsvector may be is found by its beginning.
CREATE FUNCTION message_lexemes(content text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_tsvector('simple', regexp_replace(
    regexp_replace(lower(normalize(left(content, 150000), NFKD)), '[\u0300-\u036f]', '', 'g'),
    '[!-/:-@\[-`{-~]', ' ', 'g'))
$$;

CREATE TABLE message_words (
  message_id uuid PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
  user_id    uuid NOT NULL,
  words      tsvector NOT NULL
);

CREATE INDEX message_words_user ON message_words (user_id);

-- Whoever writes a message, also a program of the release before that goes on
-- beside this one, its words are found; whatever removes it, they go with it.
CREATE FUNCTION message_said() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO message_words (message_id, user_id, words) VALUES (new.id, new.user_id, message_lexemes(new.content))
    ON CONFLICT (message_id) DO UPDATE SET words = excluded.words;
  RETURN NULL;
END $$;

CREATE TRIGGER message_said AFTER INSERT OR UPDATE OF content ON message FOR EACH ROW EXECUTE FUNCTION message_said();

INSERT INTO message_words (message_id, user_id, words) SELECT id, user_id, message_lexemes(content) FROM message;

SELECT app_guard('message_words', 'user_id = (SELECT app_person())');
