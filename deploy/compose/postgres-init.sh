#!/bin/bash
# Runs once, when the cluster is new: the owner of the tables, and the role the
# program runs as, which owns nothing.
set -euo pipefail
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" \
  -v owner="$LIMINAL_OWNER_PASSWORD" -v app="$LIMINAL_APP_PASSWORD" <<'SQL'
CREATE ROLE liminal_owner LOGIN PASSWORD :'owner';
CREATE ROLE liminal_app LOGIN PASSWORD :'app';
CREATE DATABASE liminal OWNER liminal_owner;
\connect liminal
CREATE EXTENSION IF NOT EXISTS vector;
SQL
