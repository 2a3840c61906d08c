# make           build ./bench              make check    build and test it
# make run       build it and run it, with  make deps     install all that is
#                ARGS='...' and a server                  missing (root, Debian)
# make size      how big is it?             make install  to DESTDIR and PREFIX
#
# make WITH_X=0 leaves X out.  make XCB_CFLAGS=... XCB_LIBS=... takes a static
# libxcb of yours; without, debian.sh fetches Debian's and builds it in libxcb/.
# make ARCH=i386 (an i486 will do), arm64, armhf: for other machines.
#
# make initrd, floppy, iso   bench.initrd, bench.img, bench.iso, which boot
# make check-boot            boots them in QEMU; TESTS='file or function ...'
.POSIX:

VERSION = 0.1
LIMIT = 192
PREFIX = /usr/local

ARCH = native
CC_native = cross/native/cc
CC_i386 = cross/i386/cc
CC_arm64 = cross/arm64/cc
CC_armhf = cross/armhf/cc
CC = $(CC_$(ARCH))
CLANG_native = clang
CLANG_i386 = :
CLANG_arm64 = :
CLANG_armhf = :
CLANG = $(CLANG_$(ARCH))
CFLAGS = -Oz
WITH_X = 1
XCB_native = libxcb
XCB_i386 = cross/i386/libxcb
XCB_arm64 = cross/arm64/libxcb
XCB_armhf = cross/armhf/libxcb
XCB = $(XCB_$(ARCH))
XCB_CFLAGS = -isystem $(XCB)/include
XCB_LIBS = $(XCB)/libxcb.a

SRC = bench.c options.c results.c harness.c host.c noise.c record.c report.c \
	compare.c words.c fleet.c export.c curve.c init.c os_tests.c \
	sys_tests.c mem_tests.c xcb_tests.c xserver.c xstart.c xnull.c
OBJ = $(SRC:.c=.o)

XFLAGS_0 = -DWITH_X=0
XFLAGS_1 = -DWITH_X=1 $(XCB_CFLAGS)
XLIBS_1 = $(XCB_LIBS)
ALL = -std=c11 -D_GNU_SOURCE \
	-Wall -Wextra -Wpedantic -Wshadow -Wmissing-prototypes \
	-fno-pie -ffunction-sections -fdata-sections \
	-fno-asynchronous-unwind-tables -DVERSION='"$(VERSION)"'
COMPILE = $(CC) $(ALL) $(XFLAGS_$(WITH_X)) $(CPPFLAGS) $(CFLAGS)
LINK = $(CC) -static -no-pie -s -Wl,--gc-sections -Wl,--build-id=none \
	-Wl,-z,norelro -Wl,-z,noseparate-code -Wl,-z,common-page-size=64 \
	-Wl,--sort-section=alignment $(LDFLAGS)
DEBIAN = ARCH=$(ARCH) CC='$(CC)' WITH_X=$(WITH_X) XCB_LIBS='$(XCB_LIBS)' \
	sh debian.sh

all: bench

bench: $(OBJ)
	$(LINK) -o $@ $(OBJ) $(XLIBS_$(WITH_X))

$(OBJ): bench.h config.h flags.txt
xcb_tests.o xserver.o xstart.o: xserver.h

.c.o:
	$(COMPILE) -c -o $@ $<

# every record names the flags and the C library
host.o: host.c
	libc=`echo __GLIBC__ | $(CC) -include features.h -E -P -`; \
	case '$(CC)':$$libc in *:[0-9]*) libc=glibc ;; cross/*) \
	libc="musl `cat cross/$(ARCH)/version`" ;; *) libc=musl ;; esac; \
	$(COMPILE) -DBUILD="\"$(CFLAGS), $$libc\"" -c -o $@ host.c

# touched, and so all is built anew, when the compiler or a flag has changed
flags.txt: FORCE
	@case '$(WITH_X)' in [01]) ;; *) echo "Makefile: WITH_X: '$(WITH_X)'" \
		'says nothing (give 0 or 1)' >&2; exit 1 ;; esac
	@$(DEBIAN) missing build
	@test '$(CC)' != cross/$(ARCH)/cc || $(DEBIAN) musl cross/$(ARCH)
	@test '$(XLIBS_$(WITH_X))' != $(XCB)/libxcb.a || $(DEBIAN) libxcb $(XCB)
	@new='$(COMPILE) $(LINK) $(XLIBS_$(WITH_X))'; \
	test "$$new" = "`cat $@ 2>/dev/null`" || echo "$$new" >$@

FORCE:

deps:
	@DISPLAY= $(DEBIAN) packages build run check

run:
	@$(DEBIAN) packages build run || $(DEBIAN) missing build 2>/dev/null
	@$(MAKE) bench
	@./bench $(ARGS)

check:
	@DISPLAY= $(DEBIAN) packages build check || \
		$(DEBIAN) missing build 2>/dev/null
	@$(DEBIAN) prometheus cross || :
	@$(MAKE) bench warnings
	@CC='$(CC)' WITH_X=$(WITH_X) sh tests/run

# both compilers, with and without X; clang is shown musl-gcc's headers
warnings: flags.txt
	@dir=/usr/include/`uname -m`-linux-musl; musl=; test ! -d $$dir || \
	musl="-nostdinc -isystem $$dir \
		-isystem `$(CLANG) -print-resource-dir`/include"; \
	for x in '$(XFLAGS_0)' '$(XFLAGS_$(WITH_X))'; do for c in $(SRC); do \
	set -- -Werror $(ALL) -DBUILD='""' $$x $(CPPFLAGS) $(CFLAGS) $$c; \
	$(CC) -S -o /dev/null "$$@" && $(CLANG) $$musl -fsyntax-only "$$@" || \
	exit; done; done

initrd: bench
	@sh boot.sh initrd bench.initrd

floppy iso:
	@$(DEBIAN) packages floppy
	@sh boot.sh $@ bench.`echo $@ | sed s/floppy/img/`

check-boot:
	@$(DEBIAN) packages build floppy boot
	@sh boot.sh debian
	@$(MAKE) bench
	@SUITE=tests/qemu CC='$(CC)' sh tests/run $(TESTS)

size: bench
	@n=`wc -c <bench`; echo "bench: $$n bytes, $$(((n + 1023) / 1024)) KiB" \
		"(limit $(LIMIT) KiB)"; test $$n -le $$(($(LIMIT) * 1024))

install: bench
	mkdir -p $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	cp bench $(DESTDIR)$(PREFIX)/bin/bench
	chmod 755 $(DESTDIR)$(PREFIX)/bin/bench
	cp bench.1 $(DESTDIR)$(PREFIX)/share/man/man1/bench.1
	chmod 644 $(DESTDIR)$(PREFIX)/share/man/man1/bench.1

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/bench
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/bench.1

clean:
	rm -f bench $(OBJ) flags.txt

distclean: clean
	rm -rf cross bench.initrd bench.img bench.iso libxcb libxcb.tmp.*
