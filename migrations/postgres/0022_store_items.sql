-- What programs keep for a person beside their conversations: JSON objects under a
-- key in a namespace. The parts of a namespace stand in one text, each behind the
-- character U+001F. size is of the value, in bytes.
CREATE TABLE store_item (
  user_id    uuid NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
  namespace  text NOT NULL,
  key        text NOT NULL,
  value      jsonb NOT NULL,
  size       integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, namespace, key)
);

SELECT app_guard('store_item', 'user_id = (SELECT app_person())');
