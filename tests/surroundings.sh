# Bad surroundings: whatever is missing, forbidden or used up costs the rows
# that need it, and nothing else

# swift FLAG...: builds ./swift, the rows of the OS on sizes that make a whole
# run last a fraction of a second; without flags once for all tests
swift() {
	test $# = 0 && test -x ../swift && cp ../swift . && return
	(cd "$top" && $CC -std=c11 -D_GNU_SOURCE -DWITH_X=0 -O1 -static \
	    -DMAXBUFFER='(1L << 20)' -DFILESIZE='(1L << 20)' \
	    -DBATCH=0.0001 -DMINSLICE=0.0005 -DMAXSLICE=0.0005 \
	    -DTIMEOUT=2 "$@" -o "$OLDPWD/swift" \
	    $(sed -n '/^SRC =/,/[^\\]$/{ s/SRC =//; s/\\$//; p; }' \
	    Makefile) -lm)
	test $# != 0 || cp swift ..
}

# keys FILE: of rows with a figure or a reason
keys() {
	awk -F '\t' '$1 == "result" || $1 == "none" { print $2 }' "$1" | sort
}

# whole FILE: each row of the OS is in the record once, with a figure above 0
# or with a reason, and nothing else is wrong with it
whole() {
	status 0 "$bench" -c "$1"
	has "$1" '^end	'
	"$bench" -l | awk 'NR > 1 && $2 !~ /^x(_|$)/ && $3 != "text" {
		print $1 }' | sort >want
	keys "$1" | comm -23 want - >missing
	cat missing
	test ! -s missing
}

# only FILE KEYS [REASON]: no rows but those of the pattern are without a
# figure, and they are so for reasons of that pattern.  A cache may be too
# large for the sizes of swift.
only() {
	grep '^none' "$1" | grep -v "level of cache\|too short" >hit || :
	! grep -v "^none	\($2\)	.*\(${3-}\)" hit
}

# clean COMMAND...: nothing of ours is left where files could be
clean() {
	ls -A /tmp /dev/shm . | grep -i '^bench' >before || :
	"$@"
	ls -A /tmp /dev/shm . | grep -i '^bench' | diff before -
}

rooted() {
	test "$(id -u)" = 0 && unshare -mn true || skip "no namespaces here"
}

# a machine of our own, in which a run leaves what it found
test_nothing_is_left() {
	rooted
	command -v ip >/dev/null || skip "no ip"
	swift
	cat >state <<-'END'
		cat /proc/net/unix /proc/net/tcp /proc/net/udp /proc/net/route \
		    /proc/net/fib_trie /proc/sysvipc/* /proc/mounts
		cut -d : -f 1 /proc/net/dev
		ls -A /tmp /dev/shm
		ls -A | grep -v '^left$'
		hostname
	END
	: >out >err >rec >found
	status 0 unshare -mniu sh -ec 'ip link set lo up
		for d in /tmp /dev/shm; do mount -t tmpfs none $d; done
		sh state >found
		./swift -aq -t 0.01 -o rec
		sh state >left'
	whole rec
	diff found left
}

# no /proc, /sys, /dev, /tmp, nothing that can be written but the record
test_the_binary_alone() {
	rooted
	swift
	mkdir root
	cp swift root/bench
	: >rec >root/rec
	status 0 unshare -m sh -ec 'mount --bind root root
		mount --bind rec root/rec
		mount -o remount,bind,ro root
		exec chroot root /bench -aq -t 0.01 -o /rec os'
	whole rec
	only rec '.*' 'No such file\|tmpfs\|Read-only\|sysfs'
	has rec '^result	simple_process' '^result	pipe_bw' \
	    '^result	main_lat' '^result	file_reread_bw'
	test "$(ls root)" = "$(printf 'bench\nrec')"
}

test_no_loopback() {
	rooted
	swift
	status 0 clean unshare -n ./swift -aq -t 0.01 -o rec os
	whole rec
	only rec '.*\(tcp\|udp\).*' '127.0.0.1'
}

# the limit counts all processes of a user: one that nobody is
test_eight_processes() {
	rooted
	swift
	chmod 777 .
	chmod 711 .. ../..
	: >rec
	chmod 666 rec
	status 0 setpriv --reuid 54321 --regid 54321 --clear-groups \
	    prlimit --nproc=8 ./swift -aq -t 0.01 -o rec os
	whole rec
	only rec '.*' 'fork\|clone\|Resource\|thread'
	has rec '^result	pipe_lat' '^none	ctx_8p_0k	fork: '
}

test_sixteen_files() {
	swift
	status 0 clean prlimit --nofile=16 ./swift -aq -t 0.01 -o rec os
	whole rec
	only rec '.*' 'No file descriptors'
	has rec '^result	tcp_bw' '^none	ctx_8p_0k	pipe: No file'
}

test_little_address_space() {
	status 0 clean prlimit --as=67108864 "$bench" -aq -t 0.1 -o rec os
	whole rec
	only rec '.*' 'memory'
	has rec '^result	main_lat' '^note	mem_read_bw	buffer of' \
	    '^note	stream_triad	buffer of'
}

# group BYTES COMMAND...: in a group of ours with so much memory
group() {
	limit=$1
	shift
	own=$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
	dir=/sys/fs/cgroup/memory$own
	file=memory.limit_in_bytes
	test -n "$own" || {
		dir=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
		file=memory.max
	}
	group=$dir/bench-test-$$
	mkdir "$group" 2>/dev/null || skip "no memory group can be made"
	trap 'rmdir "$group"' EXIT
	echo "$limit" >"$group/$file" || skip "no limit can be set"
	cat >enter <<-'END'
		echo $$ >"$1"/cgroup.procs && shift && exec "$@"
	END
	got=0
	sh enter "$group" "$@" || got=$?
	return $got
}

test_group_of_32_megabytes() {
	status 0 group 33554432 "$bench" -aq -t 0.1 -o rec os
	whole rec
	only rec 'nothing'
	has rec '^note	mem_read_bw	buffer of'
	rmdir "$group"
	trap - EXIT
}

# a row that takes all memory there is goes; the run and its rows do not
test_killed_for_memory() {
	odd
	status 1 group 33554432 ./odd -q -t 0.1 -o rec glutton steady
	has rec '^none	glutton	killed by signal 9' '^result	steady'
	rmdir "$group"
	trap - EXIT
}

test_killed_child() {
	odd
	./odd -q -t 0.1 -o rec hang steady >out &
	p=$!
	sleep 0.5
	kill -9 $(cat /proc/$p/task/$p/children)
	got=0
	wait $p || got=$?
	test $got = 1
	has rec '^none	hang	killed by signal 9' '^result	steady'
}

# all that a run uses, and what else a C library may use in their place
denied_calls="accept access bind chdir clone close connect dup dup2
    epoll_create1 epoll_ctl epoll_pwait epoll_wait eventfd2 exit fcntl fork
    fstat fsync ftruncate futex getcpu getcwd getdents64 getegid geteuid getgid
    getpid getppid getrandom getrusage getsockname gettid getuid ioctl kill
    listen lseek madvise memfd_create mkdir mount nanosleep newfstatat open
    openat pipe pipe2 prctl pread64 prlimit64 pwrite64 read recvfrom rmdir
    rseq rt_sigaction rt_sigprocmask rt_sigreturn rt_sigtimedwait
    sched_getaffinity sched_setaffinity sched_yield select sendto
    set_robust_list setpgid setsockopt socket socketpair splice stat statfs
    sysinfo
    uname unlink unshare vfork wait4 waitid clock_gettime mremap
    accept4 clock_gettime32 clock_gettime64 fcntl64 fstat64 fstatat64
    ftruncate64 futex_time64 _llseek _newselect rt_sigtimedwait_time64
    sigreturn stat64 statfs64 statx"
needed_calls="execve exit_group write writev mmap mmap2 munmap mprotect brk
    arch_prctl set_thread_area set_tid_address"

numbers() {
	for c; do
		printf '#ifdef SYS_%s\nSYS_%s\n#endif\n' $c $c
	done | $CC -E -P -include sys/syscall.h - | grep '^[0-9]'
}

# deny ERROR CPU GROUP...: every call in turn
deny() {
	error=$1 cpu=$2
	shift 2
	mkdir $error
	for n in $(numbers $denied_calls); do
		got=0
		timeout -s KILL 60 taskset -c $cpu ./deny $error $n ./swift \
		    -qv -t 0.01 -o $error/$n "$@" >$error.out 2>$error.err \
		    </dev/null || got=$?
		case $got in
		0 | 1) ;;
		*) echo "call $n, error $error: status $got"; return 1 ;;
		esac
		# a record that cannot be opened: then what was printed
		test -s $error/$n || grep -q 'open (the tables' $error.err || {
			echo "call $n, error $error: no record"
			return 1
		}
		test -s $error/$n || rm -f $error/$n
	done
}

# builds ./deny, which denies a command a call
denier() {
	$CC -std=c11 -D_GNU_SOURCE -static -o deny "$top/tests/deny.c"
	./deny 38 999 /bin/true || skip "no seccomp"
}

test_denied_calls() {
	denier
	swift
	deny 1 "$(cpus | sed 's/[,-].*//')" os & one=$!
	trap 'kill $one 2>/dev/null; wait' EXIT
	deny 38 "$(nproc_last)" proc comm bw mem calls spawn ctx wake file vm
	wait $one
	trap - EXIT
	# is the list of calls whole?
	./deny 38 - $(numbers $denied_calls $needed_calls) -- ./swift -aq \
	    -t 0.01 -o all.rec os
	whole all.rec
	only all.rec sh_process
	# all rows are told of whatever is denied, and nearly all are there
	for f in 38/* 1/*; do
		status 0 "$bench" -c $f
		lacks $f '	-[0-9]' '	0	'
		keys ${f%/*}/$(numbers getuid) >want
		keys $f | comm -23 want - >missing
		test ! -s missing
	done
	for c in fcntl ioctl prctl kill setpgid prlimit64 getpid getppid \
	    rt_sigprocmask sched_setaffinity sched_getaffinity uname fsync \
	    rt_sigtimedwait rt_sigaction memfd_create getdents64 waitid; do
		only 1/$(numbers $c) sh_process '' ||
		    only 38/$(numbers $c) sh_process ''
	done
	only 1/$(numbers socket) '.*' 'socket'
	only 1/$(numbers pipe) '.*' 'pipe'
}

# strangers NUMBER COMMAND...: another process outlives a command that has a
# child and is denied a call.  kill(-1) is for all there are: so in a name
# space, lest all of this machine goes
strangers() {
	rooted
	denier
	unshare -pf sh -c 'sleep 30 & other=$!
		(sleep 30 & exec ./deny 1 "$@")
		kill $other
		wait $other
		test $? = 143' sh "$@"
}

# who does not know its own number signals nobody else
test_own_number_is_unknown() {
	strangers $(numbers getpid) "$bench" -q -t 0.1 -o rec sig_handle \
	    null_call
	has rec '^none	sig_handle	getpid: ' '^result	null_call'
}

# nor does who cannot start what is to keep an X server
test_no_keeper_of_a_server() {
	with_x
	strangers $(numbers fork clone | head -n 1) "$bench" -q -t 0.1 -s Xvfb \
	    -o rec line10
	has rec '^none	line10	fork: '
}

# what a row made goes with it, also where no folder may be read
test_folder_goes_unread() {
	denier
	status 0 ./deny 1 $(numbers getdents64) "$bench" -q -t 0.1 -o rec \
	    fsync dir_create_10k
	has rec '^result	fsync' '^result	dir_create_10k'
	! ls -d bench.*
}

# denied CALL ROW REASON: the reason of a row that is denied a call
denied() {
	status 0 ./deny 1 $(numbers $1) "$bench" -q -t 0.1 -o $1.rec $2
	has $1.rec "^none	$2	$3"
	! ls -d bench.*
}

# what is denied is named, and not what comes of it
test_denied_is_named() {
	denier
	denied sched_getaffinity stream_copy_all 'no CPU is known'
	denied epoll_create1 epoll_100 'epoll: Operation not permitted'
	denied pipe fsync 'pipe: Operation not permitted'
}

# ticks PID: CPU time it has had
ticks() {
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}

# process 1 and its like wait, also where they may not wait for signals
test_waits_without_sigtimedwait() {
	denier
	mkfifo in
	sleep 60 >in & hold=$!
	./deny 38 $(numbers rt_sigtimedwait) "$bench" -i bench.q bench.t=0.5 \
	    bench.only=null_call <in >out 2>&1 & pid=$!
	trap 'kill -9 $hold $pid 2>/dev/null || :; wait' EXIT
	sleep 0.7
	for n in 1 2 3 4 5; do
		grep -q 'Enter runs again' out || sleep 1
	done
	has out 'System calls' 'Enter runs again'
	used=$(ticks $pid)
	sleep 1
	holds "$(ticks $pid) - $used < 20"
}

wrong_clock() {
	name=$(symbol clock_gettime)
	swift -Wl,--wrap="$name" -DWRONG="__wrap_$name" \
	    -DRIGHT="__real_$name" "$@" "$top/tests/clock.c"
	got=0
	timeout -s KILL 100 ./swift -aq -t 0.1 -o rec $words >out 2>err ||
	    got=$?
	test $got = 1
}

test_clock_that_stands() {
	words=os wrong_clock -DAFTER=0
	whole rec
	lacks rec '^result'
	has rec '^none	pipe_lat	CLOCK_MONOTONIC does not advance'
}

# the clock stops in the middle, where nothing but the kernel knows the time
test_clock_that_stops() {
	words='pipe_lat null_syscall' wrong_clock -DAFTER=5025
	lacks rec '	-[0-9]' '	0	'
	has rec '^end'
}

test_clock_that_goes_back() {
	words='pipe_lat null_syscall' wrong_clock -DAFTER=5025 -DBACK=100
	lacks rec '	-[0-9]' '	0	'
	has rec '^end'
}

test_one_cpu() {
	swift
	status 0 taskset -c "$(nproc_last)" ./swift -aq -t 0.01 -o rec os
	whole rec
	only rec '.*' 'CPU'
	has rec '^fact	cpus	1/' '^result	pipe_lat'
	lacks rec 'not pinned'
}

cpus() {
	taskset -cp $$ | sed 's/.*: *//'
}

# the last CPU that is allowed
nproc_last() {
	cpus | sed 's/.*[,-]//'
}

test_mask_without_the_first_cpu() {
	test "$(nproc_last)" != 0 || skip "there is no other"
	odd
	status 0 taskset -c "1-$(nproc_last)" ./odd -q -t 0.1 -o rec pinned
	has rec '^fact	pinned	1$'
	lacks rec 'not pinned'
}

# all of a run stands still for longer than a row may take
test_stopped() {
	odd -DTIMEOUT=2
	./odd -q -t 5 -o rec steady slow >out 2>err &
	p=$!
	sleep 1
	all="$p $(cat /proc/$p/task/$p/children)"
	kill -STOP $all
	sleep 10
	kill -CONT $all
	wait $p
	lacks rec '^none' '^note'
	holds "$(value rec slow 6) < 500000 && $(value rec steady 6) < 1000"
	for v in $(value rec slow 7 | tr ',' ' '); do
		holds "$v < 1000000"
	done
}

# other programs on every CPU are told of, and so are the rounds
test_disturbed() {
	odd
	pids=
	for i in $(seq $(($(nproc) * 2))); do
		sh -c 'while :; do :; done' &
		pids="$pids $!"
	done
	trap 'kill $pids' EXIT
	status 0 ./odd -q -t 2 -o rec steady quiet1
	kill $pids
	trap - EXIT
	has out '^disturbed: [1-9].*other programs [1-9][0-9]*% of a CPU'
	has rec '^fact	round1	steal .*switches/s, [0-9]* interrupts/s'
	status 0 "$bench" -c rec
	has out '^disturbed: '
}

# what spreads most is repeated, what does not is left as it is
spreading() {
	rm -f rec
	status 0 ./odd -q -t 3 -o rec steady noisy
	a=$(value rec steady 7 | tr ',' '\n' | grep -c .)
	b=$(value rec noisy 7 | tr ',' '\n' | grep -c .)
	holds "$a >= 5 && $b > $a"
}

test_what_spreads_is_repeated() {
	odd -DMAXSLICE=0.05 -DCALM=0.3
	tries spreading || {
		has rec '^fact	disturbed'
		skip "others use this machine too much"
	}
}

# cores FILE VALUE...: a file of each CPU, in a folder that stands for sysfs
cores() {
	file=$1 i=0
	shift
	for v; do
		mkdir -p sys/cpu$i/cpufreq
		echo $v >sys/cpu$i/$file
		i=$((i + 1))
	done
}

# the fastest of unlike CPUs is taken, and its class is named
test_unlike_cores() {
	rooted
	test "$(nproc)" = 2 || skip "made for two CPUs"
	odd
	for values in '1024 446' '446 1024'; do
		rm -rf sys rec
		cores cpu_capacity $values
		echo 7 >sys/isolated
		unshare -m sh -ec 'mount --bind sys /sys/devices/system/cpu
			exec ./odd -q -t 0.1 -o rec pinned'
		fast=0
		test "$values" = '1024 446' || fast=1
		has rec "^fact	on	$fast$" '^fact	cpus_isolated	7$' \
		    '^fact	core	.* 1 fastest (capacity 1024, others from 446)$'
	done
	rm -rf sys rec
	cores cpufreq/cpuinfo_max_freq 4300000 2900000
	unshare -m sh -ec 'mount --bind sys /sys/devices/system/cpu
		exec ./odd -q -t 0.1 -o rec pinned'
	has rec '^fact	on	0$' '^fact	core	.*(4300 MHz, others from 2900)$'
	# what favoured cores gain in turbo makes no class of their own
	rm -rf sys rec
	cores cpufreq/cpuinfo_max_freq 4500000 4400000
	unshare -m sh -ec 'mount --bind sys /sys/devices/system/cpu
		exec ./odd -q -t 0.1 -o rec pinned'
	lacks rec '^fact	core'
	has rec '^fact	on	1$'
}

# caches CPU SIZE LINE: its first two, in the folder of cores()
caches() {
	for level in 1 2; do
		index=sys/cpu$1/cache/index$((level - 1))
		mkdir -p $index
		echo Data >$index/type
		echo $level >$index/level
		echo $(($2 * level))K >$index/size
		echo $3 >$index/coherency_line_size
	done
}

# what is found is held against what sysfs says of the CPU measured on
test_sysfs_of_that_cpu() {
	rooted
	last=$(nproc_last)
	test "$last" != 0 || skip "there is no other"
	caches 0 512 64
	caches $last 999 4096
	unshare -m sh -ec 'mount --bind sys /sys/devices/system/cpu
		exec "$1" -q -t 0.1 -o rec line_size sysfs_caches' sh "$bench"
	has rec '^fact	sysfs_caches	unlike: L1 999K L2 1M$' \
	    '^fact	line_size	[0-9]* B, sysfs 4096$'
	status 0 "$bench" -c rec
	lacks out '.\{81\}'
}

# copies of a row run at once, each on a CPU, and are told apart and summed up
test_copies() {
	odd
	status 0 ./odd -q -t 0.5 -P 2 -o rec steady rate pinned
	has rec '^fact	copies	2$' '^note	rate	sum of 2 copies' \
	    '^note	steady	mean of 2 copies' '^fact	pinned	1$'
	has out '^rate.1 ' '^rate.2 '
	holds "near($(value rec rate), $(value rec rate.1) + \
	    $(value rec rate.2))"
	status 1 ./odd -q -t 0.1 -P 2 -o bad crash
	has bad '^none	crash	killed by signal 11'
	status 2 ./odd -P 0 steady
	has err '^bench: -P: 0: .*(1 to 256)'
}

# copies that share a CPU have each a part of it, and no more in sum
sharing() {
	rm -f rec
	for copies in 1 2; do
		status 0 taskset -c "$(nproc_last)" ./odd -q -t 1 -P $copies \
		    -o rec quiet1
	done
	value rec quiet1 5 | xargs >two
	read -r one two <two
	holds "$two > 1.6 * $one && $two < 2.5 * $one"
}

test_copies_that_share() {
	odd
	tries sharing
}
