# os_tests.c, sys_tests.c, mem_tests.c: do rows measure what they say?

# program NAME FLAG... FILE...: tests/NAME.c, linked with the harness
program() {
	name=$1
	shift
	(cd "$top" && $CC -std=c11 -D_GNU_SOURCE -Os -DWITH_X=0 \
	    -DBUILD='"test"' -static -ffunction-sections -Wl,--gc-sections \
	    -o "$OLDPWD/$name" "tests/$name.c" "$@" \
	    harness.c host.c record.c)
}

test_rpc_bytes() {
	program rpc sys_tests.c mem_tests.c
	./rpc
}

test_levels_of_known_machines() {
	program levels
	./levels
}

# what TLBs reach, found twice, differs by a step at most
reaches() {
	rm -f rec
	status 0 "$bench" -q -t 1 -r 2 -o rec tlb_reach
	sed -n 's/^fact	tlb_reach	//p' rec | tr -d K | xargs >two
	read -r a b c d <two
	for r in $a/$c $c/$a $b/$d $d/$b; do
		holds "$a > 0 && $b >= $a && $r < 1.6"
	done
}

test_reach_is_found_twice() {
	tries reaches
}

# ratios KEY LEAST MOST: the last word of the line of a key in `out`
ratio() {
	r=$(awk -v k="$1" '$1 == k { print $NF }' out)
	holds "\"$r\" != \"\" && $r >= $2 && $r <= $3"
}

as_bare() {
	./loops bare "$1" >out
	cat out
	ratio "$1" 0.9 "$2"
}

# the harness, its clock and its loop cost less than 2% of a figure
test_cost_of_our_own() {
	program loops os_tests.c sys_tests.c mem_tests.c
	for k in null_syscall null_call null_io mem_read_bw; do
		tries as_bare $k 1.02
	done
	tries as_bare pipe_lat 1.05
}

# the quickest quarter of each way to copy that mbw has, and of ours
beside_mbw() {
	rm -f rec
	status 0 "$bench" -q -t 1 -o rec 'bcopy*'
	kb=$(sed -n 's/^fact	buffer	\([0-9]*\) KB/\1/p' rec)
	for t in 0 1 2; do
		mbw -q -a -n 9 -t$t $((kb / 2048)) | sed 's/.*Copy: //' |
		    sort -n | sed -n '7s/ MiB.*//p'
	done >mbw
	best=$(sort -n mbw | tail -n 1)
	holds "$(value rec bcopy_libc_bw 6) > 0.85 * 1.048576 * $best ||
	    $(value rec bcopy_hand_bw 6) > 0.85 * 1.048576 * $best"
}

# one of our copies is as fast as the best of another program, on as much
test_copies_beside_mbw() {
	command -v mbw >/dev/null || skip 'no mbw'
	test "$(echo __SSE2__ | $CC -E -P -)" = 1 || skip 'not built for SSE2'
	tries beside_mbw
}

# within 10% where nobody but us is at work, and roughly where processes are
# switched, of which others than ours may have their turn, memory is had from
# the kernel and given back, now or later, or all CPUs are wanted
doubled() {
	./twice twice "$1" >out
	cat out
	case $1 in
	*process | *lat | *lat_x | ctx* | *_bw | fork | *exec | sh | spawn | \
	thread | tcp_conn | create* | delete* | dir* | fsync | *lock | *_all)
		ratio "$1" 1.6 2.5 ;;
	*) ratio "$1" 1.8 2.2 ;;
	esac
}

# nothing is removed, hoisted or done once for all
test_twice_the_work_takes_twice_the_time() {
	for f in os_tests sys_tests mem_tests; do
		$CC -std=c11 -D_GNU_SOURCE -Os -DWITH_X=0 -c -o $f.o \
		    -Dsample=twice_sample -Dpreliminary=twice_preliminary \
		    "$top/$f.c"
	done
	program loops "$PWD"/*.o
	mv loops twice
	for k in $("$bench" -l | awk 'NR > 1 && $3 != "text" && $3 != "stones" &&
	    $2 !~ /^x_|^x$|^xo/ { print $1 }'); do
		tries doubled "$k"
	done
}

# one write of one byte to /dev/null an operation, and no other call between
test_null_syscall_is_a_write() {
	command -v strace >/dev/null || skip 'no strace'
	status 0 strace -ff -o trace "$bench" -q -t 0.05 null_syscall
	t=$(grep -l '"/dev/null"' trace.* | head -n 1)
	fd=$(sed -n 's/.*"\/dev\/null", O_WRONLY.* = //p' "$t")
	sed '1,/"\/dev\/null"/d; /^fcntl/d; /^close/,$d' "$t" >calls
	lacks calls '^[^w]' '^write([^'"$fd"']'
	holds "$(grep -c "^write($fd, \"\\\\0\", 1) *= 1" calls) > 10"
}

# a read of a page of a file brings those around it
test_file_fault_reads() {
	program faults mem_tests.c
	./faults
}

# two processes unlock in turn what the other waits for, until one has ended
test_lock_is_handed_over() {
	command -v strace >/dev/null || skip 'no strace'
	status 0 strace -fqq -e trace=?fcntl,?fcntl64,exit_group -o trace "$bench" -q \
	    -t 0.3 fcntl_lock
	sed '/exit_group/q' trace | sed -n 's/ .*F_UNLCK.*//p' >turns
	test "$(sort -u turns | wc -l)" = 2
	holds "$(wc -l <turns) > 20 && $(wc -l <turns) == $(uniq turns | wc -l)"
}

# all figures of all tables, and every table alone; nothing is left behind
test_all_tables() {
	status 0 "$bench" -l
	awk 'NR > 1 { print $2 }' out | sort -u >groups
	for g in calls spawn ctx xctx wake file dir vm bw2 cache arith curve; do
		grep -qx $g groups
		tries status 0 "$bench" -q -t 0.1 -o $g.rec $g
		lacks out '.\{81\}'
	done
	cat *.rec >all
	lacks all '	-' '	0	' '	nan' '	inf'
	test "$(ls | grep -v 'rec$' | xargs)" = 'all err groups out'
}

# a run that names nothing has the seed's five tables, and no other
usual() {
	rm -f rec
	status 0 "$bench" -q -t 0.1 -o rec os
	lacks rec '^result	\(null_call\|fork\|curve\)'
	has rec '^result	null_syscall'
}

test_usual_tables() {
	tries usual
}

# of each point of a curve and each rate on our server all rounds count
test_parts_have_quartiles() {
	with_x
	xvfb
	status 0 "$bench" -q -t 8 -o rec line10 curve_lat
	for key in line10_null curve_lat_4K curve_lat_1M; do
		has rec "^result	$key	"
	done
	awk -F '\t' '$2 ~ /_null$|^curve/ {
		if (!($5 <= $4 && $4 <= $6))
			exit 1
		spread += $5 < $6
	} END { exit !spread }' rec
}

test_curve_of_memory() {
	status 0 "$bench" -q -t 0.1 -o rec -g mem
	holds "$(sed -n '/^ *ns  *MB/,$p' out | wc -l) <= 24"
	lacks out '.\{81\}'
	has out 'ns  *MB/s' '1K  *4K' 'lll' 'bbb' 'levels: '
	cp out live
	status 0 "$bench" -c -g mem rec
	tail -n 20 live >1
	tail -n 20 out >2
	diff 1 2
	status 0 "$bench" -c -g mem.svg rec
	has mem.svg '^<svg ' '</svg>$' 'polyline' 'ns a load' 'MB/s'
	status 1 "$bench" -c -g mem "$top/tests/seed.rec"
	has err 'no curve of memory'
	status 1 "$bench" -c -g no/such.svg rec
	has err 'no/such.svg: picture not written: No such file'
}
