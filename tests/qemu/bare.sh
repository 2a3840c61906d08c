# Process 1 where hardly anything is there or allowed.
. "$top/tests/qemu/lib"

test_crash_of_a_test() {
	odd -DTIMEOUT=1
	(cd "$top" && BENCH=$OLDPWD/odd sh boot.sh initrd "$OLDPWD/initrd")
	linux 60 'bench.t=1 bench.save=- bench.then=poweroff'
	record rec
	has rec '^result	steady' '^none	crash	killed by signal 11' \
	    '^none	hang	timed out' '^none	peer' '^end'
}

test_crash_of_the_run() {
	mkfifo in
	sleep 60 >in & hold=$!
	trap 'kill $hold 2>/dev/null || :; wait' EXIT
	"$bench" -i bench.t=50 bench.only=os bench.q <in >out 2>&1 & pid=$!
	sleep 2
	kill -SEGV "$(cat /proc/$pid/task/$pid/children)"
	n=0
	until grep 'Enter runs again' out || test $n = 10; do
		n=$((n + 1))
		sleep 1
	done
	has out 'run was killed by signal 11' 'Enter runs again'
	kill $hold
	wait $pid || :
}

# No network but one unraised loopback that may not be raised, no /proc,
# /dev, /sys nor /tmp, no mount, no node, no file.
test_nothing_allowed() {
	test "$(id -u)" = 0 || skip 'not root'
	mkdir root
	cp "$bench" root/init
	status 130 unshare -fpnm setpriv --no-new-privs --bounding-set \
	    -sys_admin,-mknod,-net_admin,-dac_override,-dac_read_search \
	    chroot root /init bench.t=5 bench.save=/dev/sda \
	    bench.then=poweroff || test "$got" = 0 || test "$got" = 143
	cat err >>out
	has out '/proc: not there' 'Processor, Processes' \
	    'Memory latencies' 'not saved: mount' 'BEGIN BENCH'
	record rec
	has rec '^result	null_process' '^result	ctx_2p_0k' \
	    '^result	pipe_lat' '^end'
}

# A kernel without devtmpfs, sysfs, /proc, tmpfs and network.
test_no_proc_no_network() {
	kernel=$(cd "$top" && sh boot.sh kernel tests/qemu/bare.config)
	build i386
	(cd "$top" && BENCH=$OLDPWD/bench sh boot.sh initrd "$OLDPWD/initrd")
	xz --check=crc32 initrd
	QEMU=i386 qemu 60 -M isapc -cpu 486 -m 16 -kernel "$kernel" -initrd initrd.xz -append \
	    'console=ttyS0 -- bench.q bench.t=3 bench.save=- bench.then=reboot'
	has out '/proc: not there' 'Processor, Processes'
	record rec
	whole rec x proc comm bw mem
	has rec '^result	null_syscall' '^result	null_process' \
	    '^result	pipe_lat' '^none	udp_lat' '^none	tcp_lat' '^end'
}

# vfat, ext4 and 9p, on a kernel that has them as modules
on_modules() {
	modules=$cache/debian/lib/modules/$(ls "$cache/debian/lib/modules")
	test -f "$modules/modules.dep" ||
	    depmod -b "$cache/debian" "$(basename "$modules")"
	mkdir -p more/bin
	cp /bin/busybox more/bin/busybox
	ln -s busybox more/bin/sh
	for m in virtio_pci virtio_blk 9pnet_virtio 9p vfat nls_cp437 \
	    nls_ascii ext4 crc32c_generic; do
		modprobe -d "$cache/debian" -S "$(basename "$modules")" \
		    --show-depends $m
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!n[$0]++' >list
	i=0
	while read -r ko; do
		i=$((i + 1))
		cp "$ko" "more/$(printf %02d $i).ko"
	done <list
	cat >more/modules <<-'END'
	#!/bin/sh
	for k in /*.ko; do /bin/busybox insmod $k; done
	for to in /dev/vda /dev/vdb share; do
		/bench -i bench.save=$to </dev/null
	done >/log 2>&1
	/bin/busybox cat /log
	exec /bench bench.save=share bench.then=poweroff
	END
	chmod +x more/modules
	initrd "$PWD/more"
}

test_saves_on_vfat_ext_9p() {
	on_modules
	mkdir host
	truncate -s 16M vda vdb
	mformat -i vda -T 32768 -h 16 -s 63 ::
	mkfs.ext4 -q -F vdb
	linux 120 'rdinit=/modules bench.t=1 bench.only=pipe_lat' \
	    -drive if=virtio,format=raw,file=vda \
	    -drive if=virtio,format=raw,file=vdb -fsdev \
	    local,id=f,path=host,security_model=none \
	    -device virtio-9p-pci,fsdev=f,mount_tag=share
	for to in /dev/vda /dev/vdb share; do
		has out "$to: the record is in BENCH.TSV"
	done
	mtype -i vda ::BENCH.TSV >rec
	has rec '^end'
	debugfs -R 'cat BENCH.TSV' vdb >rec 2>/dev/null
	has rec '^end'
	test "$(grep -c '^end' host/BENCH.TSV)" = 2
}
