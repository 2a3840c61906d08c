# The initrd on Debian's own amd64 kernel.
. "$top/tests/qemu/lib"

test_initrd_prints_all() {
	initrd
	linux 120 'bench.t=10 bench.save=- bench.then=poweroff'
	tables
	record rec
	whole rec x proc comm bw mem
	# what needs nothing but the kernel
	measured rec null_syscall null_process simple_process mmap_lat ctx_2p_0k \
	    pipe_lat udp_lat rpc_udp_lat tcp_lat rpc_tcp_lat pipe_bw tcp_bw \
	    file_reread_bw mmap_reread_bw bcopy_libc_bw mem_read_bw main_lat
	has out 'Power down'
	status 0 "$bench" -c rec
}

# on_linux_4_0: where no call is newer, and none is spared by the vDSO
on_linux_4_0() {
	mkdir -p more
	gcc -static -o more/old "$top/tests/qemu/old.c"
	initrd "$PWD/more"
	linux 90 'rdinit=/old vdso=0 vdso32=0 bench.t=3 bench.save=- \
	    bench.only=os bench.then=poweroff -- /bench'
	record rec
	whole rec proc comm bw mem
	measured rec null_syscall null_process simple_process ctx_2p_0k \
	    pipe_lat udp_lat rpc_udp_lat tcp_lat rpc_tcp_lat pipe_bw tcp_bw \
	    file_reread_bw mmap_reread_bw bcopy_libc_bw mem_read_bw
}

test_system_calls_of_linux_4_0() {
	on_linux_4_0
}

test_system_calls_of_linux_4_0_on_32_bits() {
	build i386
	BENCH=$PWD/bench
	export BENCH
	on_linux_4_0
}

test_words_of_the_command_line() {
	initrd
	linux 60 'bench.t=1 bench.only=pipe_lat,null_* bench.n="my box" \
	    bench.foo=1 bench.save bench.then=reboot bench.v'
	has out 'bench.foo: no such word' 'bench.save: says nothing' \
	    'my box' '^pipe_lat ' '^null_process '
	lacks out '^udp_lat' 'BEGIN BENCH'
}

test_bad_words_cost_only_themselves() {
	initrd
	start 'bench.t=soon bench.only=pipe_lat bench.then=poweroff'
	sees 60 'all is run, without options'
	sees 30 'round 1'
	printf '\003' >keys.in
	finished 30
	has out '-t: soon: not a time'
	tables
}

test_as_rdinit() {
	initrd
	linux 60 'rdinit=/bench bench.t=1 bench.only=pipe_lat \
	    bench.then=poweroff'
	has out 'Local.* Communication latencies'
}

test_behind_an_initrd_of_others() {
	mkdir -p old/bin
	echo nothing >old/bin/sh
	echo nothing >old/init
	initrd
	(cd old && find . | cpio -o -H newc 2>/dev/null | gzip) >both
	truncate -s %4 both
	cat initrd >>both
	mv both initrd
	start 'bench.t=1 bench.only=pipe_lat bench.then=halt'
	sees 60 'System halted'
	has serial 'Local.* Communication latencies'
	lacks serial 'Kernel panic'
}

test_two_consoles() {
	initrd
	start 'console=tty0 console=ttyS0 bench.q bench.t=1 \
	    bench.only=pipe_lat' -vga std
	sees 60 'Enter runs again'
	has serial 'Local.* Communication latencies'
	screen
	has screen 'Local.* Communication latencies' 'Enter runs again'
}

test_unknown_console() {
	initrd
	qemu 60 -m 256 -kernel "$cache/debian/vmlinuz" -initrd initrd -append \
	    'console=nope9 panic=-1 bench.q bench.t=1 bench.only=pipe_lat
	    bench.then=poweroff'
	has out 'Local.* Communication latencies'
}

test_exec_another_program() {
	mkdir -p more/bin
	cp /bin/busybox more/bin/busybox
	printf '%s\n' '#!/bin/busybox sh' 'echo here I am: $$' \
	    '/bin/busybox poweroff -f' >more/next
	initrd "$PWD/more"
	linux 60 'bench.t=1 bench.only=pipe_lat bench.then=/next'
	has out 'here I am: 1$'
}

test_exec_of_nothing_waits() {
	initrd
	start 'bench.t=1 bench.only=pipe_lat bench.then=/nothing'
	sees 60 '/nothing: exec: No such file'
	sees 5 'Enter runs again'
}

test_enter_runs_again() {
	initrd
	start 'bench.t=1 bench.only=pipe_lat bench.q'
	sees 60 'Enter runs again'
	printf '\r' >keys.in
	n=0
	until test "$(grep -c 'Enter runs again' serial)" = 2; do
		n=$((n + 1))
		test $n -lt 30
		sleep 1
	done
	test "$(grep -c 'Communication latencies' serial)" = 2
}

test_pages_wait_for_enter() {
	initrd
	start 'bench.t=1 bench.only=os bench.v bench.q bench.page=100'
	sees 60 'Enter: more'
	sleep 2
	lacks serial 'Enter runs again'
	test "$(sed '1,/Processor/d' serial | wc -l)" -lt 25
	for i in 1 2 3 4 5; do printf '\r' >keys.in; sleep 0.5; done
	sees 5 'Enter runs again'
}

test_ctrl_c_ends_the_run() {
	initrd
	start 'bench.t=500 bench.only=os bench.save=- bench.then=poweroff'
	sees 60 'round 1.* pipe_lat'
	printf '\003' >keys.in
	finished 30
	has out 'stopped: this is what there was' 'Processor, Processes'
	record rec
	has rec '^result	null_syscall' '^end'
}

test_ctrl_alt_del_reboots() {
	initrd
	start 'bench.t=500 bench.only=os bench.save=- bench.then=wait'
	sees 60 'round 1'
	echo 'sendkey ctrl-alt-delete' >monitor
	finished 30
	has out 'Processor, Processes'
	record rec
	has rec '^end'
}
