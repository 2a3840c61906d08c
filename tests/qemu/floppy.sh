# The floppy in an i486 without PCI, CPUID of one and PC speaker apart.
. "$top/tests/qemu/lib"

# say WORDS: to the kernel, by ./image
say() {
	words=$(echo "$1" | tr -s '\\\n\t' ' ')
	mtype -i image ::syslinux.cfg >told
	sed "s|floppy.*|floppy $words|" told >said
	mcopy -o -i image said ::syslinux.cfg
}

# image WORDS: ./image, the floppy, saying them
image() {
	test -f ../floppy || (
		cd "$top" && BOOTARGS='console=tty0 console=ttyS0 bench.q floppy' \
		    sh boot.sh floppy "$OLDPWD/../floppy"
	)
	cp ../floppy image
	say "$1"
	test "$(wc -c <image)" = 1474560
}

# pc SECONDS MEGABYTES [DRIVE]
pc() {
	QEMU=i386 qemu "$1" -M isapc -cpu 486 -m "$2" -vga std -boot a \
	    -drive "if=floppy,format=raw,file=image$3"
}

saved() {
	mtype -i image ::BENCH.TSV >rec
}

test_floppy_prints_all_and_saves() {
	image 'bench.t=10 bench.save=/dev/fd0 bench.then=reboot'
	pc 120 16
	tables
	has out '/dev/fd0: the record is in BENCH.TSV'
	saved
	whole rec x proc comm bw mem
	has rec '^fact	machine	i486'
	measured rec null_syscall null_process simple_process ctx_2p_0k pipe_lat \
	    udp_lat rpc_udp_lat tcp_lat rpc_tcp_lat pipe_bw tcp_bw \
	    bcopy_libc_bw bcopy_hand_bw mem_read_bw mem_write_bw
	has rec '^fact	x_server	built-in'
	measured rec line10 fill100 blt100 itext arc100 cmplx xstones
	status 0 "$bench" -c rec
	# again on the same disk: appended
	say 'bench.t=1 bench.only=pipe_lat bench.save=/dev/fd0 \
	    bench.then=reboot'
	pc 60 16
	saved
	test "$(grep -c '^bench	1$' rec)" = 2
	test "$(grep -c '^end	' rec)" = 2
}

test_floppy_in_8_mb() {
	image 'bench.t=10 bench.save=/dev/fd0 bench.then=reboot'
	pc 120 8
	tables
	saved
	whole rec x proc comm bw mem
	has rec '^result	null_syscall	' '^result	pipe_lat	' \
	    '^result	xstones	' '^end'
	lacks rec 'killed by signal'
}

test_save_device_read_only() {
	image 'bench.t=1 bench.only=pipe_lat bench.save=/dev/fd0 \
	    bench.then=reboot'
	pc 60 16 ,readonly=on
	has out '/dev/fd0: not saved: mount: .*(the record follows)'
	record rec
	has rec '^result	pipe_lat' '^end'
}

test_save_device_missing() {
	image 'bench.t=1 bench.only=pipe_lat bench.save=/dev/fd1 \
	    bench.then=reboot'
	pc 60 16
	has out '/dev/fd1: not saved: mount: '
	record rec
	has rec '^result	pipe_lat' '^end'
	image 'bench.t=1 bench.only=pipe_lat bench.save=/dev/nothing \
	    bench.then=reboot'
	pc 60 16
	has out '/dev/nothing: not saved: mount: No such'
	record rec
	has rec '^result	pipe_lat' '^end'
}

test_save_device_full() {
	image 'bench.t=1 bench.only=pipe_lat bench.save=/dev/fd0 \
	    bench.then=reboot'
	printf '%0500d\n' 0 >BENCH.TSV         # its cluster is used up
	mcopy -i image BENCH.TSV ::
	left=$(mdir -i image :: | sed -n 's/ bytes free//p' | tr -d ' ')
	head -c "$left" /dev/zero >rest
	mcopy -i image rest ::
	pc 60 16
	has out 'not saved: write BENCH.TSV: No space left'
	record rec
	has rec '^result	pipe_lat' '^end'
	mtype -i image ::BENCH.TSV >now
	cmp now BENCH.TSV
}

test_power_lost_after_saving() {
	image 'bench.t=1 bench.only=pipe_lat bench.save=/dev/fd0'
	qemu-system-i386 -accel tcg -M isapc -cpu 486 -m 16 -nodefaults \
	    -display none -vga std -serial file:serial -boot a \
	    -drive if=floppy,format=raw,file=image >qemu.log 2>&1 & machine=$!
	trap 'kill -9 $machine 2>/dev/null || :; wait' EXIT
	sees 60 'the record is in BENCH.TSV'
	kill -9 $machine
	saved
	has rec '^result	pipe_lat' '^end'
	status 0 "$bench" -c rec
}

test_prompt_takes_words() {
	image 'bench.t=1 bench.only=pipe_lat'
	mkfifo monitor
	sleep 300 >monitor & hold=$!
	qemu-system-i386 -accel tcg -M isapc -cpu 486 -m 16 -nodefaults \
	    -display none -vga std -serial file:serial -boot a -monitor stdio \
	    -drive if=floppy,format=raw,file=image <monitor >qemu.log 2>&1 &
	machine=$!
	trap 'kill -9 $machine $hold 2>/dev/null || :; wait' EXIT
	sees 60 '^boot:'
	for k in l i n u x spc b e n c h dot n equal x y z ret; do
		echo "sendkey $k" >monitor
		sleep 0.3
	done
	sees 60 'Enter runs again'
	has serial ' xyz '
	screen
	has screen ' xyz ' 'Enter runs again'
}

# as a CD, and as what a BIOS makes of a USB stick
test_iso_boots() {
	words='console=ttyS0 bench.q bench.t=1 bench.only=pipe_lat'
	(cd "$top" && BOOTARGS="$words bench.then=reboot" \
	    sh boot.sh iso "$OLDPWD/image")
	for how in 'media=cdrom,readonly=on' 'media=disk'; do
		QEMU=i386 qemu 60 -m 32 -drive "if=ide,format=raw,file=image,$how"
		has out 'Local.* Communication latencies'
	done
}
