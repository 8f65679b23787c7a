#!/bin/sh
# enter.sh IMAGE HOME UID PROGRAM [ARGUMENT …]: run a program of the image, its folder /srv being HOME, as user UID.
#
# Called in a mount namespace of its own ('unshare --mount'): what is mounted here nobody else sees, and it goes with
# the last process that was started here, however that ends. So the image never has a mount in it that somebody who
# deletes it could follow to the machine's own /dev.
set -eu
image=$1 home=$2 uid=$3
shift 3
mount --bind /dev "$image/dev"
mount -t tmpfs -o mode=1777,nosuid,nodev shm "$image/dev/shm" # of parallel queries; a container's own is often 64 MB
mount --bind "$home" "$image/srv"
exec chroot --userspec="$uid:$uid" --groups= "$image" "$@"
