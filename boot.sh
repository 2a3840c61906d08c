#!/bin/sh
# Makes what boots.  None of it needs root.
#
#	sh boot.sh initrd FILE [DIR]    bench as /init; with what DIR holds
#	sh boot.sh debian               Debian's own kernel, for tests
#	sh boot.sh kernel               the floppy's kernel, made once and kept
#	sh boot.sh floppy FILE          1,474,560 bytes: SYSLINUX, kernel, initrd
#	sh boot.sh iso FILE             the same for a CD or a USB stick
#
# The environment may hold BENCH (the program, ./bench), BOOTARGS (words for
# the kernel's command line) and CACHE (where kernels are kept).

: "${BENCH:=./bench}" "${CACHE:=${XDG_CACHE_HOME:-$HOME/.cache}/bench}"
: "${BOOTARGS:=console=ttyS0 console=tty0 bench.save=/dev/fd0}"
here=$(cd "$(dirname "$0")" && pwd) || exit

die() {
	echo "boot.sh: $*" >&2
	exit 1
}

# --- initrd: a cpio archive as the kernel reads it, of any kernel -----------

# pad N: up to a multiple of 4
pad() {
	case $(($1 % 4)) in
	1) printf '\0\0\0' ;;
	2) printf '\0\0' ;;
	3) printf '\0' ;;
	esac
}

# entry NAME MODE SIZE [MAJOR MINOR]: a header; number is its inode
entry() {
	number=$((number + 1))
	printf '070701'
	printf '%08x' $number $(($2)) 0 0 1 0 "$3" 0 0 "${4:-0}" "${5:-0}" \
	    $((${#1} + 1)) 0
	printf '%s\0' "$1"
	pad $((110 + ${#1} + 1))
}

# file NAME FROM
file() {
	size=$(wc -c <"$2") && test "$size" -gt 0 || return
	entry "$1" 0100755 "$size"
	cat "$2"
	pad "$size"
}

# tree DIR: all that it holds
tree() {
	(cd "$1" && find . ! -name . | sort) | while read -r f; do
		f=${f#./}
		if test -L "$1/$f"; then
			to=$(readlink "$1/$f")
			entry "$f" 0120777 ${#to}
			printf '%s' "$to"
			pad ${#to}
		elif test -d "$1/$f"; then
			entry "$f" 040755 0
		elif test -s "$1/$f"; then
			file "$f" "$1/$f" || exit
		else
			entry "$f" 0100755 0
		fi
		number=$((number + 1))
	done
}

# A kernel without devtmpfs needs the two nodes, others do not mind.
cpio() {
	number=0
	entry dev 040755 0
	entry dev/console 020600 0 5 1
	entry dev/null 020666 0 1 3
	file init "$BENCH" || exit
	entry bench 0120777 4
	printf init
	if test -n "$1"; then
		number=1000
		tree "$1" || exit
	fi
	entry 'TRAILER!!!' 0 0
}

initrd() {
	test -f "$BENCH" || die "$BENCH: not there (make bench)"
	cpio "$2" >"$1.tmp" || die "$1: cannot write it"
	mv "$1.tmp" "$1"
}

# --- kernels -----------------------------------------------------------------

# fetch PACKAGE: Debian's package, unpacked in $CACHE/tmp
fetch() {
	command -v apt-get dpkg-deb >/dev/null ||
	    die "$1: this is not Debian (put a kernel into $CACHE)"
	rm -rf "$CACHE/tmp" && mkdir -p "$CACHE/tmp" && (
		cd "$CACHE/tmp" || exit
		apt-get -q -o APT::Sandbox::User="$(id -un)" download "$1" &&
		    dpkg-deb -x ./*.deb . && rm ./*.deb
	) >&2 || die "$1: cannot fetch it (apt-get update? network?)"
}

# Debian's own kernel and its modules, in $CACHE/debian
debian() {
	test -d "$CACHE/debian" && return
	name=$(apt-cache depends linux-image-amd64 |
	    sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p') || exit
	fetch "${name:?apt knows no linux-image-amd64}"
	mv "$CACHE"/tmp/boot/vmlinuz-* "$CACHE/tmp/vmlinuz" &&
	    mv "$CACHE/tmp" "$CACHE/debian"
}

usage() {
	sed -n 's/^#\(	sh boot.sh\)/\1/p' "$0" >&2
	exit 2
}

case $#:$1 in
[23]:initrd | 1:debian | 1:kernel | 2:floppy | 2:iso) "$@" ;;
*) usage ;;
esac
