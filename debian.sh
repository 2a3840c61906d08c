#!/bin/sh
# What bench needs from Debian 12.
#
#	sh debian.sh missing SET...     name what is missing for SET
#	sh debian.sh packages SET...    the same, but install it
#	sh debian.sh libxcb DIR         build a static libxcb in DIR
#	sh debian.sh musl DIR           build musl for ARCH in DIR, and DIR/cc;
#	                                for size, 20 KB less than Debian's own;
#	                                its newer malloc gives each image that X
#	                                replies with back to the kernel
#	sh debian.sh prometheus DIR     put promtool there, for the tests, if
#	                                there is none: its package, installed,
#	                                would start a server
#
# SET is build, run (a server to draw on), check (the tests), floppy or boot
# (the tests in QEMU).
#
# The environment may hold ARCH, CC, WITH_X, XCB_LIBS as given to make, and
# DISPLAY.
# Only `packages`, as root, changes anything outside this folder.

version=1.15-1
tarball=libxcb_1.15.orig.tar.gz
sha256=1cb65df8543a69ec0555ac696123ee386321dfac1964a3da39976c9a05ad724d
musl_version=1.2.3-1
musl_tarball=musl_1.2.3.orig.tar.gz
musl_sha256=7d5b0b6062521e4627e099e4c9dc8248d32a30285e959b7eecaa780cf8cfd4a4
extensions='bigreq render shm xc_misc xproto'

: "${CC:=cross/native/cc}" "${WITH_X:=1}" "${XCB_LIBS:=libxcb/libxcb.a}"
: "${ARCH:=native}"
case $CC in cross/*) CC=$PWD/$CC ;; esac
# Debian's compiler for it, and its package.  An i486 is all that is asked for,
# and without SSE nothing wants a stack aligned to more: 4 KB less.
case $ARCH in
native) gcc=gcc package=gcc ;;
i386) gcc='i686-linux-gnu-gcc -march=i486 -mpreferred-stack-boundary=2'
	package=gcc-i686-linux-gnu ;;
arm64) gcc=aarch64-linux-gnu-gcc package=gcc-aarch64-linux-gnu ;;
armhf) gcc=arm-linux-gnueabihf-gcc package=gcc-arm-linux-gnueabihf ;;
*) echo "debian.sh: ARCH=$ARCH: not known (native i386 arm64 armhf)" >&2
	exit 2 ;;
esac

die() {
	echo "debian.sh: $*" >&2
	exit 1
}

has() {
	command -v "$1" >/dev/null
}

# want PACKAGES WHAT: one line of the list of missing things
want() {
	echo "$2: $1"
}

# is libxcb to be built here, and not built yet?
own_libxcb() {
	test "$WITH_X" != 0 && ! test -f "$XCB_LIBS" || return
	case $XCB_LIBS in
	libxcb/libxcb.a | cross/*/libxcb/libxcb.a) ;;
	*) false ;;
	esac
}

want_build() {
	cc=${CC%% *}
	case $cc in
	musl-gcc) { has musl-gcc && has gcc; } || want 'musl-tools gcc' "$cc" ;;
	*/cross/*/cc) has "${gcc%% *}" || want "$package" "${gcc%% *}"
		has gcc || want gcc gcc ;;
	gcc | cc) has "$cc" || want 'gcc libc6-dev' "$cc" ;;
	clang) has clang || want 'clang libc6-dev' clang ;;
	*) has "$cc" || die "$cc: no such compiler (give CC one that is there)" ;;
	esac
	own_libxcb || return 0
	test -x /usr/bin/python3 || want python3 python3
	test -d /usr/lib/python3/dist-packages/xcbgen ||
	    want python3-xcbgen 'python3 xcbgen'
	test -f /usr/share/xcb/xproto.xml || want xcb-proto xproto.xml
	test -f /usr/include/X11/X.h || want x11proto-dev X11/X.h
	test -f /usr/include/X11/Xauth.h || want libxau-dev libXau.a
}

want_run() {
	test "$WITH_X" = 0 || test -n "$DISPLAY" || has Xvfb || want xvfb Xvfb
}

want_check() {
	has clang || want clang clang
	has file || want file file
	has strace || want strace strace
	test -x /usr/sbin/rsyslogd || want rsyslog rsyslogd
	has git || want git git
	has ip || want iproute2 ip
	has mbw || want mbw mbw
	has jq || want jq jq
	has parallel || want parallel parallel
	has pdsh || want pdsh pdsh
	has clush || want clustershell clush
	test "$WITH_X" = 0 && return
	has Xvfb || want xvfb Xvfb
	has xauth || want xauth xauth
	has xwininfo || want x11-utils xwininfo
	has xset || want x11-xserver-utils xset
	has Xephyr || want xserver-xephyr Xephyr
	has Xvnc || want tigervnc-standalone-server Xvnc
	test -f /usr/lib/xorg/modules/drivers/dummy_drv.so ||
	    want 'xserver-xorg-core xserver-xorg-video-dummy' 'Xorg (dummy)'
	has twm || want twm twm
	test -d /usr/share/fonts/X11/misc || want xfonts-base fonts
}

want_floppy() {
	has i686-linux-gnu-gcc || want gcc-i686-linux-gnu i686-linux-gnu-gcc
	has gcc || want 'gcc libc6-dev' gcc
	for x in bc flex bison syslinux; do
		has $x || want $x $x
	done
	has mcopy || want mtools mcopy
	has xorriso || want xorriso xorriso
	test -f /usr/lib/ISOLINUX/isolinux.bin || want isolinux isolinux.bin
	test -f /usr/lib/syslinux/modules/bios/ldlinux.c32 ||
	    want syslinux-common ldlinux.c32
	has xz || want xz-utils xz
}

want_boot() {
	has qemu-system-x86_64 || want 'qemu-system-x86 seabios' qemu
	test -f /bin/busybox || want busybox-static busybox
	has modprobe || want kmod modprobe
	has cpio || want cpio cpio
	has aarch64-linux-gnu-gcc ||
	    want gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc
	has arm-linux-gnueabihf-gcc ||
	    want gcc-arm-linux-gnueabihf arm-linux-gnueabihf-gcc
	has qemu-arm-static || want qemu-user-static qemu-arm-static
	has Xvfb || want xvfb Xvfb
	has mkfs.ext4 || want e2fsprogs mkfs.ext4
}

wanted() {
	for set; do
		case $set in
		build | run | check | floppy | boot) "want_$set" ;;
		*) die "$set: no such set (build run check floppy boot)" ;;
		esac
	done
}

debian() {
	test -f /etc/debian_version && has apt-get
}

missing() {
	list=$(wanted "$@") || exit
	test -z "$list" && return
	{
		echo "bench: $*: programs or libraries are missing" \
		    '(as root on Debian: make deps)'
		echo "$list" | sort -u | sed "s/: /, in Debian's /; s/^/  /"
		echo '  or give make CC=compiler, XCB_CFLAGS=... and' \
		    'XCB_LIBS=... of a static libxcb, or WITH_X=0'
	} >&2
	return 1
}

packages() {
	list=$(wanted "$@") || exit
	test -z "$list" && return
	{ test "$(id -u)" = 0 && debian; } || missing "$@" || return
	list=$(echo "$list" | sed 's/.*: //' | sort -u | tr '\n' ' ')
	echo "debian.sh: installing $list" >&2
	export DEBIAN_FRONTEND=noninteractive
	apt='apt-get -q -o DPkg::Lock::Timeout=300'
	# shellcheck disable=SC2086
	{ $apt update && $apt -y install --no-install-recommends $list; } >&2 ||
	    die "$*: apt-get failed (see above, wanted: $list)"
	missing "$@"
}

# sources OPTION...: the machine's own Debian mirrors, as lines of a
# sources.list.  The pinned checksum vouches for what comes from there.
# shellcheck disable=SC2016
sources() {
	apt-get "$@" indextargets --format \
	    'deb-src [trusted=yes] $(REPO_URI) $(RELEASE) $(COMPONENT)' \
	    'Created-By: Packages' | sort -u | grep ' bookworm main$'
}

# fetch DIR SOURCE VERSION TARBALL SHA256: from Debian's source package into
# DIR, by apt lists of our own
fetch() (
	name=$2 version=$3 tarball=$4 sha256=$5
	cd "$1" && mkdir -p lists/partial cache/archives/partial || exit
	set -- -q -o Dir::State::Lists="$PWD/lists" -o Dir::Cache="$PWD/cache" \
	    -o APT::Sandbox::User="$(id -un)"
	# a machine that never ran apt-get update lists nothing
	sources >mirrors || { apt-get "$@" update && sources "$@" >mirrors; } ||
	    die "$name: apt has no source \"bookworm main\" (add it to apt," \
	    'or give XCB_CFLAGS and XCB_LIBS, or WITH_X=0)'
	set -- "$@" -o Dir::Etc::SourceList="$PWD/mirrors" \
	    -o Dir::Etc::SourceParts=/dev/null
	{ apt-get "$@" update &&
	    apt-get "$@" source --download-only "$name=$version"; } ||
	    die "$name: cannot fetch Debian's source $version (network?" \
	    'or give XCB_CFLAGS and XCB_LIBS, or WITH_X=0)'
	echo "$sha256  $tarball" | sha256sum -c - ||
	    die "$tarball: not the pinned checksum (a broken mirror? try again)"
)

# There is no libXau of other machines to be had: the part that is called.
cookie() {
	cat <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <X11/Xauth.h>

	enum { WILD = 65535 };

	static unsigned
	number(FILE *f)
	{
		int high = getc(f);

		return (unsigned)high << 8 | (unsigned)getc(f);
	}

	static void
	text(FILE *f, unsigned short *len, char **s)
	{
		*len = number(f);
		*s = feof(f) ? NULL : calloc(1, *len + 1);
		if (*s && fread(*s, 1, *len, f) != *len)
			free(*s), *s = NULL;
	}

	static int
	same(unsigned n, const char *s, unsigned len, const char *t)
	{
		return n == len && !memcmp(s, t, n);
	}

	void
	XauDisposeAuth(Xauth *a)
	{
		free(a->address);
		free(a->number);
		free(a->name);
		free(a->data);
		free(a);
	}

	char *
	XauFileName(void)
	{
		static char path[4096];
		const char *name = getenv("XAUTHORITY"), *home = getenv("HOME");

		snprintf(path, sizeof path, "%s%s", name ? name :
		    home ? home : "", name ? "" : "/.Xauthority");
		return name || home ? path : NULL;
	}

	/* the first entry of the file that is for this display */
	Xauth *
	XauGetBestAuthByAddr(unsigned short family, unsigned short alen,
	    const char *address, unsigned short nlen, const char *number_,
	    int n, char **types, const int *lens)
	{
		const char *name = XauFileName();
		FILE *f = name ? fopen(name, "r") : NULL;
		Xauth *a;

		while (f && (a = calloc(1, sizeof *a))) {
			a->family = number(f);
			text(f, &a->address_length, &a->address);
			text(f, &a->number_length, &a->number);
			text(f, &a->name_length, &a->name);
			text(f, &a->data_length, &a->data);
			if (a->data && n > 0 && (a->family == WILD ||
			    family == WILD || (a->family == family &&
			    same(a->address_length, a->address, alen,
			    address))) && (!a->number_length ||
			    same(a->number_length, a->number, nlen, number_))
			    && same(a->name_length, a->name,
			    (unsigned)lens[0], types[0])) {
				fclose(f);
				return a;
			}
			name = a->data;
			XauDisposeAuth(a);
			if (!name)
				break;
		}
		if (f)
			fclose(f);
		return NULL;
	}
	END
}

# Debian's libXau.a was built against glibc with checked string calls
checked() {
	cat <<-'END'
	#include <stdarg.h>
	#include <stdio.h>

	int __snprintf_chk(char *, size_t, int, size_t, const char *, ...);

	int
	__snprintf_chk(char *s, size_t n, int flag, size_t room,
	    const char *format, ...)
	{
		va_list ap;
		int len;

		(void)flag;
		va_start(ap, format);
		len = vsnprintf(s, n < room ? n : room, format, ap);
		va_end(ap);
		return len;
	}
	END
}

# An X server over TCP is named by its address, or localhost: musl's search
# for the names of hosts would add 16 KB to the binary.
resolver() {
	cat <<-'END'
	#include <arpa/inet.h>
	#include <errno.h>
	#include <netdb.h>
	#include <stdlib.h>
	#include <string.h>

	struct found {
		struct addrinfo info;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};

	int
	getaddrinfo(const char *restrict host, const char *restrict port,
	    const struct addrinfo *restrict hints,
	    struct addrinfo **restrict list)
	{
		struct found *f = calloc(1, sizeof *f);
		unsigned short n = htons(atoi(port));

		(void)hints;
		if (!f)
			return EAI_MEMORY;
		if (strcmp(host, "localhost") == 0)
			host = "127.0.0.1";
		f->info.ai_socktype = SOCK_STREAM;
		f->info.ai_protocol = IPPROTO_TCP;
		f->v4.sin_port = f->v6.sin6_port = n;
		if (inet_pton(AF_INET, host, &f->v4.sin_addr) == 1) {
			f->info.ai_addr = (struct sockaddr *)&f->v4;
			f->info.ai_addrlen = sizeof f->v4;
			f->info.ai_family = f->v4.sin_family = AF_INET;
		} else if (inet_pton(AF_INET6, host, &f->v6.sin6_addr) == 1) {
			f->info.ai_addr = (struct sockaddr *)&f->v6;
			f->info.ai_addrlen = sizeof f->v6;
			f->info.ai_family = f->v6.sin6_family = AF_INET6;
		} else {
			free(f);
			errno = EADDRNOTAVAIL;
			return EAI_NONAME;
		}
		*list = &f->info;
		return 0;
	}

	void
	freeaddrinfo(struct addrinfo *list)
	{
		free(list);
	}
	END
}

# bench draws from one thread: without locks it is 3 KB less
unlocked() {
	echo '#include <pthread.h>'
	for f in mutex_init cond_init cond_wait; do
		echo "#define pthread_$f(a, b) ((void)(a), (void)(b), 0)"
	done
	for f in mutex_destroy mutex_lock mutex_unlock cond_destroy \
	    cond_signal cond_broadcast; do
		echo "#define pthread_$f(a) ((void)(a), 0)"
	done
}

# compile DIR: DIR/src -> DIR/libxcb.a, which holds libXau too
compile() (
	cd "$1/src" || exit
	for x in $extensions; do
		/usr/bin/python3 c_client.py -c libxcb -l libxcb -s 3 \
		    -p /usr/lib/python3/dist-packages "/usr/share/xcb/$x.xml" ||
		    exit
	done
	# the length of a list of values, without taking it apart: 2 KB less
	unpack='xcb_[a-z_]*_list_unpack(_buffer, value_mask, &_aux)'
	sed -i "s/return $unpack/return 4 * __builtin_popcount(value_mask)/" \
	    xproto.c render.c || exit
	mkdir -p ../include/xcb ../include/X11 man &&
	    cp ./*.h ../include/xcb || exit
	for x in X Xauth Xfuncproto Xfuncs Xosdefs; do
		cp "/usr/include/X11/$x.h" ../include/X11 || exit
	done

	test "$ARCH" = native || cookie >cookie.c || exit
	checked >checked.c && resolver >resolver.c &&
	    unlocked >unlocked.h || exit
	$CC -c -Oz -w -std=gnu11 -fno-pie -ffunction-sections -fdata-sections \
	    -fno-asynchronous-unwind-tables -I../include -D_GNU_SOURCE \
	    -DHAVE_ABSTRACT_SOCKETS=1 -DHAVE_GETADDRINFO=1 \
	    -DUSE_POLL=1 -DXCB_QUEUE_BUFFER_SIZE=16384 -include unlocked.h \
	    ./*.c &&
	    { test "$ARCH" != native ||
	    ar x "$(dpkg -L libxau-dev | grep '/libXau\.a$')"; } &&
	    ar rcs ../libxcb.a ./*.o
)

# libxcb DIR: whole or not at all, also when two run at once
libxcb() {
	test -f "$1/libxcb.a" && return
	debian || die 'libxcb: this is not Debian (give XCB_CFLAGS and' \
	    'XCB_LIBS of a static libxcb, or WITH_X=0)'
	tmp=$(mktemp -d "$1.tmp.XXXXXX") || exit
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM
	echo "debian.sh: building libxcb $version in $1" >&2
	{
		fetch "$tmp" libxcb $version $tarball $sha256 &&
		    tar -xzf "$tmp/$tarball" -C "$tmp" \
		    --strip-components=1 --no-same-owner && compile "$tmp"
	} >"$tmp/log" 2>&1 || {
		tail -n 20 "$tmp/log" >&2
		die "libxcb: not built (see above)"
	}
	mkdir "$tmp/new" && mv "$tmp/include" "$tmp/libxcb.a" "$tmp/COPYING" \
	    "$tmp/new" && {
		mv -T "$tmp/new" "$1" 2>/dev/null || test -f "$1/libxcb.a" ||
		    die "$1: cannot put the library there (file in the way?)"
	}
}

# musl DIR: static musl for ARCH, and DIR/cc, which comes last
musl() {
	test -x "$1/cc" && return
	debian || die "$1: this is not Debian (give CC, a compiler for musl)"
	mkdir -p "$1" && to=$(cd "$1" && pwd -P) || exit
	tmp=$(mktemp -d "$1/tmp.XXXXXX") || exit
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM
	echo "debian.sh: building musl $musl_version for $ARCH in $1" >&2
	(
		fetch "$tmp" musl $musl_version $musl_tarball $musl_sha256 &&
		    cd "$tmp" && tar -xzf $musl_tarball --no-same-owner \
		    --strip-components=1 &&
		    CC=$gcc CFLAGS='-Oz -ffunction-sections -fdata-sections' \
		    ./configure --with-malloc=oldmalloc \
		    --disable-shared --enable-wrapper=gcc \
		    --target="$($gcc -dumpmachine)" --prefix="$to" &&
		    MAKEFLAGS='' make -j2 install && cp VERSION "$to/version"
	) >"$tmp/log" 2>&1 || {
		tail -n 20 "$tmp/log" >&2
		die 'musl: not built (see above)'
	}
	printf '#!/bin/sh\nexec %s "$@" -specs "%s"\n' "$gcc" \
	    "$to/lib/musl-gcc.specs" >"$tmp/cc" && chmod +x "$tmp/cc" &&
	    mv "$tmp/cc" "$1/cc"
}

# prometheus DIR: promtool, a file of 48 MB, from a package of 19 MB
prometheus() {
	has promtool || test -x "$1/promtool" && return
	debian || die 'promtool: this is not Debian (put one into PATH)'
	mkdir -p "$1" && tmp=$(mktemp -d "$1/tmp.XXXXXX") || exit
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM
	(
		cd "$tmp" &&
		    apt-get -q -o APT::Sandbox::User="$(id -un)" \
		    download prometheus && dpkg-deb -x ./*.deb .
	) >"$tmp/log" 2>&1 && mv "$tmp/usr/bin/promtool" "$1" || {
		tail -n 3 "$tmp/log" >&2
		die 'promtool: cannot fetch it (apt-get update? network?)'
	}
}

case $#:$1 in
[2-9]:missing | [2-9]:packages | 2:libxcb | 2:musl | 2:prometheus) "$@" ;;
*)
	echo 'usage: sh debian.sh missing|packages' \
	    'build|run|check|floppy|boot ...' >&2
	echo '       sh debian.sh libxcb|musl|prometheus DIR' >&2
	exit 2
	;;
esac
