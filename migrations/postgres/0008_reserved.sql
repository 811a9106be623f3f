-- Holds the place of a migration that another branch brings; it is dropped
-- when the two are merged.
SELECT 1;
