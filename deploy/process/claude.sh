#!/bin/sh
# Claude Code as MODEL_BACKEND=process asks it (docs/models.md): one question on
# standard input, one answer on standard output, no tools, no settings of a
# project, and no transcript of what was said on the disk.
#
# What it needs beside HOME and PATH, such as a key, is exported here: the server
# hands on nothing of its own environment.
set -eu
exec "${CLAUDE:-claude}" -p --input-format stream-json --output-format stream-json --verbose \
	--include-partial-messages --no-session-persistence --tools "" --setting-sources "" \
	--system-prompt "Do what the instructions in the message say, and write the answer and nothing else." "$@"
