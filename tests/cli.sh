# The command line: options, words, exit statuses

test_version_and_help() {
	status 0 "$bench" -V
	has out '^bench [0-9]'
	status 0 "$bench" -h
	has out '^usage: bench' ' -t seconds'
	holds "$(awk '{ if (length > n) n = length } END { print n }' out) <= 80"
}

# README and the manual page have the synopsis of -h
test_synopsis() {
	"$bench" -h | sed 's/^usage://; /^$/,$d' | tr -s ' \n' '  ' >want
	sed '1,/^OPTIONS/d; /^	test/,$d' "$top/README" |
	    tr -s ' \t\n' ' ' >readme
	diff want readme
	tr ' ' '\n' <want | sed -n 's/^\[*-\([a-zA-Z]*\)\]*$/\1/p' >letters
	sed -n '/^.Sh SYNOPSIS/,/^.Sh DESC/s/^.\(Op \)*Fl \([^ ]*\).*/\2/p' \
	    "$top/bench.1" | sed '/^-$/d' >manual
	diff letters manual
}

# a compiler that is given, where none was built: its C library is named
test_own_compiler() {
	cp "$top"/*.[ch] "$top/Makefile" "$top/debian.sh" .
	status 0 make CC="${CC%% *}" WITH_X=0 host.o
	grep -aq 'Oz, \(musl\|glibc\)' host.o
}

test_list_names_every_key_once() {
	status 0 "$bench" -l
	for k in mhz null_syscall null_process simple_process sh_process \
	    mmap_lat ctx_2p_0k ctx_8p_0k pipe_lat udp_lat rpc_udp_lat tcp_lat \
	    rpc_tcp_lat pipe_bw tcp_bw file_reread_bw mmap_reread_bw \
	    bcopy_libc_bw bcopy_hand_bw mem_read_bw mem_write_bw l1_lat \
	    l2_lat l3_lat main_lat tlb_lat guesses x_line x_fill x_blt \
	    x_text x_arc x_cmplx xstones line10 dline100 wline400 rect10 \
	    fill100 tile400 stip10 inv100 blt400 bit10 scroll itext ptext \
	    arc10 farc400 cmplx; do
		has out "^$k "
	done
	cut -d ' ' -f 1 out | sort | uniq -d >twice
	test ! -s twice
}

# a word ends the options, as POSIX has it: not by silence
test_option_behind_a_word() {
	for words in 'pipe_lat -t 1' '-c old new -w 5' '-C old -- new -v'; do
		status 2 "$bench" $words
		has err '^bench: -[twv]: behind other words: '
	done
	status 1 "$bench" -c -- -w
	has err '^bench: -w: open: '
}

test_unknown_option() {
	status 2 "$bench" -Z
	has err '^usage: bench'
	test ! -s out
}

test_unknown_word() {
	status 2 "$bench" -q pipe_lat nonsense
	has err 'nonsense: no such test or group (bench -l'
	test ! -s out
}

test_bad_values() {
	for v in 0 -1 x 1x '' nan 1e9; do
		status 2 "$bench" -q -t "$v" pipe_lat
		has err '^bench: -t: '
	done
	status 2 "$bench" -q -n "a	b" pipe_lat
	has err '^bench: -n: .*printable'
	status 2 "$bench" -q -n '' pipe_lat
	status 2 "$bench" -q -d nonsense pipe_lat
	has err '^bench: -d: nonsense: '
	status 2 "$bench" -c
	has err 'usage'
}

test_words_and_patterns() {
	status 0 "$bench" -q -t 0.1 -o rec null_syscall 'pipe_??' 'pi*_la[r-u]'
	grep -E '^(result|none)' rec | cut -f 2 | sort >keys
	printf 'null_syscall\npipe_bw\npipe_lat\n' | diff - keys
	rm rec
	status 0 "$bench" -q -t 0.1 -o rec comm
	holds "$(grep -c '^result' rec) == 5"
}

test_output_to_a_full_disk() {
	status 1 "$bench" -q -t 0.1 -o /dev/full null_syscall
	has err '^bench: /dev/full: .*No space left'
	has out 'Syscall'
}

test_output_to_a_missing_folder() {
	status 1 "$bench" -q -t 0.1 -o no/such/rec null_syscall
	has err '^bench: no/such/rec: .*No such file'
	has out 'Syscall'
}

test_standard_output_full() {
	status 1 sh -c "'$bench' -q -t 0.1 null_syscall >/dev/full"
	has err 'standard output: No space left'
	status 1 sh -c "'$bench' -l >/dev/full"
}

test_records_are_appended() {
	for i in 1 2; do
		status 0 "$bench" -q -t 0.1 -n "run $i" -o rec null_syscall
	done
	status 0 "$bench" -c rec
	has out 'run 1' 'run 2'
	holds "$(grep -c '^end	1$' rec) == 2"
}

# a record that power loss cut short does not swallow the next one
test_append_after_a_cut_line() {
	printf 'bench\t1\nfact\thost\tx\nresult\tnull_sy' >rec
	status 0 "$bench" -q -t 0.1 -n second -o rec null_syscall
	status 1 "$bench" -c rec
	has out second
}

test_labelled_row() {
	status 0 "$bench" -q -t 0.1 -n 'my label' null_syscall
	has out 'my label'
}

test_progress_only_on_a_terminal() {
	status 0 "$bench" -t 0.3 null_syscall
	test ! -s err
	script -qec "'$bench' -t 0.5 null_syscall pipe_lat 2>&1 >out" /dev/null \
	    >tty
	has tty 'null_syscall' 's left'
	# and no trace: what is last on the line is blank
	tail -c 1 tty | od -c | grep -q '\\r'
	script -qec "'$bench' -q -t 0.5 null_syscall 2>&1 >out" /dev/null >tty
	test ! -s tty
}

test_tables_fit_eighty_columns() {
	status 0 "$bench" -q -t 0.1 os
	holds "$(awk '{ if (length > n) n = length } END { print n }' out) <= 80"
	has out '^Processor, Processes - times in microseconds' \
	    '^\*Local\* Communication latencies in microseconds' \
	    '^\*Local\* Communication bandwidths in megabytes/second' \
	    '^Memory latencies in nanoseconds'
}

test_static_small_and_stripped() {
	file "$bench" >kind
	has kind 'statically linked' 'stripped'
	lacks kind 'not stripped'
	holds "$(wc -c <"$bench") <= 192 * 1024"
}

