#!/bin/sh
# Makes what boots.  None of it needs root.
#
#	sh boot.sh initrd FILE [DIR]    bench as /init; with what DIR holds
#	sh boot.sh debian               Debian's own kernel, for tests
#	sh boot.sh kernel [FILE]        makes the floppy's kernel, says where it
#	                                is; FILE: with these further choices
#	sh boot.sh floppy FILE          1,474,560 bytes: SYSLINUX, kernel, initrd
#	sh boot.sh iso FILE             the same for a CD or a USB stick
#
# The environment may hold BENCH (the program, ./bench), BOOTARGS (words for
# the kernel's command line) and CACHE (where kernels are kept).

: "${BENCH:=./bench}" "${CACHE:=${XDG_CACHE_HOME:-$HOME/.cache}/bench}"
test "$1" = iso || save=' bench.save=/dev/fd0'
: "${BOOTARGS:=console=ttyS0,115200 console=tty0${save-}}"
unset MAKEFLAGS MFLAGS MAKELEVEL ARCH CC
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

# fetch PACKAGE: Debian's package, unpacked in $tmp, a folder of our own
fetch() {
	command -v apt-get dpkg-deb >/dev/null ||
	    die "$1: this is not Debian (put a kernel into $CACHE)"
	mkdir -p "$CACHE" && tmp=$(mktemp -d "$CACHE/tmp.XXXXXX") || exit
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM
	(
		cd "$tmp" || exit
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
	mv "$tmp"/boot/vmlinuz-* "$tmp/vmlinuz" && {
		mv -T "$tmp" "$CACHE/debian" 2>/dev/null || test -d "$CACHE/debian"
	}
}

# Where the floppy's kernel is kept: another configuration, another place.
kernel_file() {
	echo "$CACHE/floppy-$(cat "$here/boot.config" ${1+"$1"} | cksum |
	    cut -d ' ' -f 1)"
}

# make tinyconfig of Debian's kernel source, and boot.config on top
kernel() (
	to=$(kernel_file "$@")
	echo "$to"
	test -f "$to" && return
	fetch linux-source-6.1
	echo 'boot.sh: building the kernel: some minutes' >&2
	cat "$here/boot.config" "$@" >"$tmp/choices" && cd "$tmp" &&
	    mkdir linux && tar -xJf usr/src/linux-source-*.tar.xz -C linux \
	    --strip-components=1 --no-same-owner && cd linux || exit
	k='make -s ARCH=i386 KBUILD_BUILD_USER=bench KBUILD_BUILD_HOST=bench'
	$k tinyconfig >log 2>&1 &&
	    scripts/kconfig/merge_config.sh -m .config ../choices \
	    >>log 2>&1 && $k olddefconfig >>log 2>&1 || {
		tail log >&2
		die 'kernel: not configured (see above)'
	}
	test $# != 0 || ! grep CONFIG ../choices | grep -vxFf .config >&2 ||
	    die 'kernel: it does not take these lines of boot.config'
	nice -n 19 $k -j "$(nproc)" bzImage >>log 2>&1 || {
		tail log >&2
		die 'kernel: not built (see above)'
	}
	mv arch/x86/boot/bzImage "$to"
)

# --- images ------------------------------------------------------------------

# payload DIR WITH_X: kernel, initrd and what SYSLINUX is told, in DIR
payload() {
	test -f "$1/linux" || { kernel && cp "$(kernel_file)" "$1/linux"; } \
	    >/dev/null || exit
	mkdir -p "$here/cross" "$1/src" &&
	    cp "$here"/*.c "$here"/*.h "$here/Makefile" "$here/debian.sh" \
	    "$1/src" && ln -sfn "$here/cross" "$1/src/cross" &&
	    make -s -C "$1/src" ARCH=i386 WITH_X="$2" bench >"$1/log" 2>&1 || {
		tail "$1/log" >&2
		die "make ARCH=i386: failed (see above)"
	}
	BENCH=$1/src/bench initrd "$1/initrd"
	# a small machine has no room for a larger dictionary
	xz -f --check=crc32 --x86 --lzma2=dict=512KiB,lc=3,pb=0 "$1/initrd" ||
	    exit
	cat >"$1/syslinux.cfg" <<-END
	serial 0 115200
	prompt 1
	timeout 30
	display boot.msg
	default linux
	label linux
	kernel linux
	append initrd=initrd.xz quiet loglevel=3 panic=30 $BOOTARGS
	END
	printf 'bench: Enter starts, with words: linux bench.t=60 %s\r\n' \
	    'bench.only=os bench.then=halt' >"$1/boot.msg"
}

# fat FILE DIR: an image of 1.44 MB that boots what DIR holds
fat() {
	dd if=/dev/zero of="$1" bs=1024 count=1440 2>/dev/null &&
	    mformat -i "$1" -f 1440 -v BENCH :: && syslinux -i "$1" &&
	    mcopy -i "$1" "$2/linux" "$2/initrd.xz" "$2/syslinux.cfg" \
	    "$2/boot.msg" :: || {
		wc -c "$2/linux" "$2/initrd.xz" >&2
		return 1
	}
}

floppy() {
	dir=$(mktemp -d) || exit
	trap 'rm -rf "$dir"' EXIT
	trap 'exit 1' HUP INT TERM
	payload "$dir" 1
	fat "$dir/image" "$dir" || {
		echo 'boot.sh: floppy: too much with X, so without' >&2
		payload "$dir" 0
		fat "$dir/image" "$dir" || die 'floppy: it does not fit'
	}
	mv "$dir/image" "$1" || exit
	echo "$1: $(wc -c <"$1") bytes:" \
	    "kernel $(wc -c <"$dir/linux"), initrd $(wc -c <"$dir/initrd.xz")," \
	    "$(mdir -i "$1" :: | sed -n '/ bytes free/s/[^0-9]//gp') free"
}

iso() {
	dir=$(mktemp -d) || exit
	trap 'rm -rf "$dir"' EXIT
	trap 'exit 1' HUP INT TERM
	payload "$dir" 1
	mkdir "$dir/cd" && mv "$dir/linux" "$dir/initrd.xz" "$dir/boot.msg" \
	    "$dir/cd" &&
	    mv "$dir/syslinux.cfg" "$dir/cd/isolinux.cfg" &&
	    cp /usr/lib/ISOLINUX/isolinux.bin \
	    /usr/lib/syslinux/modules/bios/ldlinux.c32 "$dir/cd" &&
	    xorriso -as mkisofs -quiet -V BENCH -o "$1" -b isolinux.bin \
	    -c boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table \
	    -isohybrid-mbr /usr/lib/ISOLINUX/isohdpfx.bin "$dir/cd" || exit
	echo "$1: $(wc -c <"$1") bytes"
}

usage() {
	sed -n 's/^#\(	sh boot.sh\)/\1/p' "$0" >&2
	exit 2
}

case $#:$1 in
[23]:initrd | 1:debian | [12]:kernel | 2:floppy | 2:iso) "$@" ;;
*) usage ;;
esac
