#!/usr/bin/env bash
# eval/pages/texts.sh FOLDER: makes the texts of the set "pages" in FOLDER, from
# packages of Debian 12 that are downloaded with apt-get and unpacked, not installed.
# It needs apt-get, dpkg-deb, man and col. Other releases have other texts: a passage
# that no longer stands in one is named when the set is asked.
set -euo pipefail
to=${1:?the folder to make the texts in}
mkdir -p "$to"
to=$(cd "$to" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -q findutils gpg less lftp lvm2 manpages manpages-de nano nmap borgbackup \
  python3.11-doc postgresql-doc-15 rsync screen smartmontools sqlite3-doc sudo systemd wget git-doc base-files >&2
for deb in *.deb; do
  case $deb in manpages-de_*) dpkg-deb -x "$deb" de ;; *) dpkg-deb -x "$deb" en ;; esac
done

render() { MANWIDTH=80 LC_ALL=C.UTF-8 man --nh --nj -l "$1" 2>/dev/null | col -bx >"$2"; }
for page in find.1 less.1 nanorc.5 gpg.1 lftp.1 lvcreate.8 hier.7 proc.5 nmap.1 borg-create.1 \
  rsync.1 screen.1 smartctl.8 sudoers.5 systemd.service.5 wget.1; do
  render "en/usr/share/man/man${page##*.}/$page.gz" "$to/$page.txt"
done
for page in crontab.5 fstab.5 journald.conf.5 logind.conf.5 ls.1 mount.8 nfs.5 resolv.conf.5 systemd.timer.5 tar.1; do
  render "de/usr/share/man/de/man${page##*.}/$page.gz" "$to/$page.de.txt"
done
cp en/usr/share/common-licenses/MPL-2.0 "$to/MPL-2.0.txt"
cp en/usr/share/common-licenses/Artistic "$to/Artistic.txt"
docs=en/usr/share/doc
for topic in programming design general library; do
  cp "$docs/python3.11/html/_sources/faq/$topic.rst.txt" "$to/python-faq-$topic.rst"
done
cp "$docs/sqlite3/wal.html" "$docs/sqlite3/pragma.html" "$docs/sqlite3/faq.html" "$docs/git-doc/gitfaq.txt" "$to"
for page in runtime-config-connection backup-dump routine-vacuuming; do
  cp "$docs/postgresql-doc-15/html/$page.html" "$to"
done
ls "$to"
