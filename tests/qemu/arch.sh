# bench of other machines: i386 here, arm64 and armhf under qemu-user.
. "$top/tests/qemu/lib"

# machine ARCH: ./bench of that machine, whose time_t has 64 bits
machine() {
	build "$1"
	printf '%s\n' '#include <time.h>' \
	    '_Static_assert(sizeof (time_t) == 8, "time_t");' >time.c
	"cross/$1/cc" -c time.c
}

# structure COMMAND...: what must hold wherever it runs
structure() {
	"$@" -l >list
	"$bench" -l | cmp - list
	"$@" -c "$top/tests/seed.rec" >seed
	"$bench" -c "$top/tests/seed.rec" | cmp - seed
	status 2 "$@" -Z
	"$@" -q -t 3 -o rec os >tables || :
	whole rec proc comm bw mem
	measured rec null_syscall null_process ctx_2p_0k pipe_lat udp_lat \
	    rpc_udp_lat tcp_lat rpc_tcp_lat pipe_bw tcp_bw file_reread_bw \
	    mmap_reread_bw bcopy_libc_bw mem_read_bw mem_write_bw main_lat
}

# emulated NAME MACHINE: ./run, which runs ./bench by qemu-NAME, registered
# for its machine number in namespaces of our own
emulated() {
	command -v "qemu-$1-static" || skip "no qemu-$1-static"
	cat >run <<-END
	#!/bin/sh
	test "\$1" = in || exec unshare -Urmpf --mount-proc sh ./run in "\$@"
	shift
	mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
	printf '%s\n' ':bench:M:18:\x$2\x00::$(command -v "qemu-$1-static"):F' \
	    >/proc/sys/fs/binfmt_misc/register || exit 77
	exec ./bench "\$@"
	END
	chmod +x run
	./run -V || skip 'no binfmt_misc in a user namespace'
}

test_i386() {
	machine i386
	objdump -d bench >code
	lacks code 'cmov' '%xmm' '%mm' '	rdtsc' '	cmpxchg8b' '	fu*comip* ' \
	    '	fisttp' '	movnti' '	prefetch' '	[lms]fence' '	fxsave'
	structure ./bench
}

# sockets and times by the calls of 32 bits
test_i386_on_linux_4_0() {
	machine i386
	gcc -o old "$top/tests/qemu/old.c"
	structure ./old ./bench
}

test_arm64() {
	machine arm64
	emulated aarch64 b7
	structure ./run
}

test_armhf() {
	machine armhf
	emulated arm 28
	structure ./run
}
