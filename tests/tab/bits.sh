#!/bin/sh
# Compare masks and texts on a 32-bit Python with those here: sh tests/tab/bits.sh FOLDER  (root, Debian, debootstrap)
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
if [ ! -e "$folder/usr/bin/python3" ]; then
	debootstrap --arch=i386 --variant=minbase --include=python3,python3-numpy bookworm "$folder"
fi
mkdir -p "$folder/lab"
cp -r "$root/guidedviz" "$root/bench" "$root/assets" "$root/tests" "$folder/lab/"
PYTHONPATH=$root OMP_NUM_THREADS=1 "${PYTHON:-$root/.venv/bin/python}" "$root/tests/tab/bits.py" > "$folder/here.txt"
chroot "$folder" env PYTHONPATH=/lab python3 /lab/tests/tab/bits.py > "$folder/there.txt"
diff "$folder/here.txt" "$folder/there.txt" && echo "the same: $(wc -l < "$folder/here.txt") lines"
