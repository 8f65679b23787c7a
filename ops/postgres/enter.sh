#!/bin/sh
# enter.sh IMAGE HOME UID PROGRAM [ARGUMENT …]: run a program of the image as user UID, with HOME mounted at /srv.
#
# It is called in its own mount namespace ('unshare --mount'). Other processes do not see what is mounted here, and the
# mounts end with the last process that was started here, however that process ends. So somebody who deletes the image
# cannot follow a mount in it to the machine's own /dev.
set -eu
image=$1 home=$2 uid=$3
shift 3
mount --bind /dev "$image/dev"
mount -t tmpfs -o mode=1777,nosuid,nodev shm "$image/dev/shm" # for parallel queries; a container's own is often 64 MB
mount --bind "$home" "$image/srv"
exec chroot --userspec="$uid:$uid" --groups= "$image" "$@"
