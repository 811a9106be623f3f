-- What programs keep for a person beside their conversations: JSON objects under a
-- key in a namespace. The parts of a namespace stand in one text, each behind the
-- character U+001F. size is of the value, in bytes.
CREATE TABLE store_item (
  user_id    TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  namespace  TEXT NOT NULL,
  key        TEXT NOT NULL,
  value      TEXT NOT NULL,
  size       INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, namespace, key)
) STRICT;
