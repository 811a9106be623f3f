-- Versions of a turn (UI-04): what a person edits or asks again is set aside,
-- and nothing is deleted. The messages a conversation shows, its path, have
-- aside 0 and are dense from 1; those that left the path together have one
-- number of their own and keep their seq. So seq is unique on a path, and no
-- longer in a conversation.
ALTER TABLE message ADD COLUMN aside INTEGER NOT NULL DEFAULT 0;

-- The first of a message's versions, which names itself when there is a second
-- one; null: there is one only. version_no counts them from 0.
ALTER TABLE message ADD COLUMN version_of TEXT;
ALTER TABLE message ADD COLUMN version_no INTEGER NOT NULL DEFAULT 0;

-- How often something of the conversation was set aside: the last number that
-- was given out. It changes whenever the path does other than grow.
ALTER TABLE conversation ADD COLUMN asides INTEGER NOT NULL DEFAULT 0;

-- The message of another conversation that this one is a copy up to; both may
-- be gone.
ALTER TABLE conversation ADD COLUMN branched_from TEXT;
ALTER TABLE conversation ADD COLUMN branched_message TEXT;

-- A program of the release before goes on beside this one: it names no index,
-- and what it writes has aside 0.
DROP INDEX message_seq;
CREATE UNIQUE INDEX message_path ON message (conversation_id, aside, seq);
CREATE UNIQUE INDEX message_version ON message (version_of, version_no) WHERE version_of IS NOT NULL;
