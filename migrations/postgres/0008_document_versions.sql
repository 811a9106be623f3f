-- Versions of a document: a changed file that is uploaded again replaces the one
-- from the same place. Each version is a document of its own, so that what was
-- quoted of it is found where it stood; those that were replaced have no chunks.

-- Where its person had the file: its name, or its path in the folder it came in.
-- '' is a document of a program before this one, or of a file nobody uploaded.
ALTER TABLE document ADD COLUMN origin text COLLATE "C" NOT NULL DEFAULT '';

-- What the versions of one document have in common, the id of the first of them;
-- null: there is one only. version_no counts them in the order they came, also
-- one that comes again.
ALTER TABLE document ADD COLUMN lineage uuid;
ALTER TABLE document ADD COLUMN version_no bigint NOT NULL DEFAULT 0;
ALTER TABLE document ADD COLUMN superseded_at timestamptz;

CREATE INDEX document_lineage ON document (lineage) WHERE lineage IS NOT NULL;
