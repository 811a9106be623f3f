-- What has been said in a conversation whose client keeps it and sends it all
-- with each turn: the digest of it, by which the next turn finds the conversation.
ALTER TABLE conversation ADD COLUMN continuation text;

CREATE INDEX conversation_continuation ON conversation (user_id, continuation) WHERE continuation IS NOT NULL;
