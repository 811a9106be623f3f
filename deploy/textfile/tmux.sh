#!/bin/sh
# Wakes a program in a terminal of tmux for each question that
# MODEL_BACKEND=textfile puts into a folder, and starts the terminal where it is
# not there. It runs until it is stopped.
#
#   PALIADIN_RESPONSE_DIR  the folder; as the server has it       /tmp/paliadin
#   PALIADIN_TMUX_SESSION  the terminal                           paliad-paliadin
#   PALIADIN_COMMAND       what runs in it, reads and writes files  claude
#   PALIADIN_EVERY         seconds between two looks               1
set -eu
dir=${PALIADIN_RESPONSE_DIR:-/tmp/paliadin}
session=${PALIADIN_TMUX_SESSION:-paliad-paliadin}
command=${PALIADIN_COMMAND:-claude}
every=${PALIADIN_EVERY:-1}

umask 077
mkdir -p "$dir"
cd "$dir"
# A question that is there at the start has nobody waiting for it any more.
for asked in *.prompt.md; do
  [ -e "$asked" ] && : > "${asked%.prompt.md}.sent"
done
while :; do
  for asked in *.prompt.md; do
    turn=${asked%.prompt.md}
    [ -e "$asked" ] && [ ! -e "$turn.sent" ] || continue
    : > "$turn.sent"
    if ! tmux has-session -t "=$session" 2>/dev/null; then
      tmux new-session -d -s "$session" -c "$dir" "$command"
      sleep "$every" # until it listens
    fi
    # -l types letters and no keys: nothing in a name is a command.
    tmux send-keys -t "=$session:" -l "Read $dir/$asked and do what it says."
    tmux send-keys -t "=$session:" Enter
  done
  sleep "$every"
done
