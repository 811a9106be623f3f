package postgres

// MigrateFiles is Migrate with files of a test's own.
var MigrateFiles = migrate
