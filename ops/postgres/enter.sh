#!/bin/sh
# enter.sh IMAGE HOME UID PROGRAM [ARGUMENT …]: run a program of the image as user UID, with HOME mounted on /srv.
#
# It is called in a mount namespace of its own ('unshare --mount'): no other process sees its mounts, and they end with
# the last process started here, however that ends. So deleting the image can never reach the machine's own /dev through
# a mount.
set -eu
image=$1 home=$2 uid=$3
shift 3
mount --bind /dev "$image/dev"
mount -t tmpfs -o mode=1777,nosuid,nodev shm "$image/dev/shm" # for parallel queries; a container's own is often 64 MB
mount --bind "$home" "$image/srv"
exec chroot --userspec="$uid:$uid" --groups= "$image" "$@"
