#!/bin/sh
# pin-digests.sh [FILE…]: write the current digest of each base image after its tag in the Dockerfiles.
#
# It needs Docker with buildx and the network. Run it before the first build, and again when you want a newer base; commit
# the result. If a tag cannot be looked up, it writes nothing.
set -eu
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- ./*.Dockerfile
images=$(sed -nE 's/^ARG [A-Z]+_IMAGE=([^@ ]+)(@.*)?$/\1/p' "$@" | sort -u)
pins=
for image in $images
do
  digest=$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$image")
  if ! printf '%s\n' "$digest" | grep -qxE 'sha256:[0-9a-f]{64}'
  then
    echo "pin-digests: $image: docker gave no digest" >&2
    exit 1
  fi
  pins="$pins -e s|^(ARG[[:space:]][A-Z]+_IMAGE=)$image(@.*)?\$|\\1$image@$digest|"
  echo "$image@$digest"
done
for file in "$@"
do
  # shellcheck disable=SC2086 # a list of options; no pin holds a space
  sed -E $pins "$file" > "$file.new"
  cat "$file.new" > "$file"
  rm "$file.new"
done
