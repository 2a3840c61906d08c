# harness.c and the rounds of bench.c, with the rows of tests/odd.c


# within 5 %: the quickest quarter of the samples, as others may run too
definitions() {
	rm -f rec
	status 0 ./odd -q -t 1 -o rec steady twice rate subtract quiet1 quiet2
	s=$(value rec steady 5)
	holds "$s > 10 && $s < 10.5" &&
	    # two units of work an operation, in twice the time
	    holds "near($(value rec twice 5) / $s, 1)" &&
	    # one byte in a steady() is so many bytes a microsecond
	    holds "near($(value rec rate 6) * $s, 1)" &&
	    # three parts less one
	    holds "near($(value rec subtract 5) / $s, 2)" &&
	    holds "near($(value rec quiet2 5) / $(value rec quiet1 5), 2)"
}

test_definitions() {
	odd
	tries definitions
}

# what is taken off a batch may be long, as on a busy machine
test_long_lead() {
	odd
	status 0 ./odd -q -t 0.1 -o rec led
	has rec '^result	led'
}

test_quartiles_enclose_the_value() {
	odd
	status 0 ./odd -q -t 1 -o rec steady rate
	for k in steady rate; do
		holds "$(value rec $k 5) <= $(value rec $k) && \
		    $(value rec $k) <= $(value rec $k 6)"
	done
}

quiet_is_not_marked() {
	status 0 ./odd -q -t 1 slow
	lacks out '[0-9]K*[*]'
}

test_noise_is_marked() {
	odd
	status 0 ./odd -q -t 1 slow noisy
	has out '[0-9]K*[*]' 'noise: '
	tries quiet_is_not_marked
}

test_five_rounds_fit() {
	odd
	status 0 ./odd -q -t 3 -o rec steady twice slow quiet1
	for k in steady twice slow quiet1; do
		rounds=$(value rec $k 7 | tr ',' '\n' | grep -c .)
		holds "$rounds >= 5"
	done
	seconds=$(sed -n 's/^fact	seconds	//p' rec)
	holds "$seconds <= 3.1"
}

test_one_round_whatever_the_time() {
	odd
	status 0 ./odd -q -t 0.01 -o rec steady slow
	holds "$(value rec slow 5) > 49999 && $(value rec steady 5) > 9.99"
}

test_faults_cost_their_own_row() {
	odd -DTIMEOUT=1
	status 1 ./odd -q -v -t 0.5 -o rec
	has rec '^none	crash	killed by signal 11' \
	    '^none	hang	timed out after 1 s' \
	    '^none	missing	open /no/file: No such file' \
	    '^none	broken	write pipe: Broken pipe' \
	    '^none	peer	word of the peer' \
	    '^none	quits	ended with status 3' \
	    '^none	nosample	no sample' \
	    '^none	nothing	too short' \
	    '^none	gone1	refused (connect to nowhere)' \
	    '^none	gone2	refused (connect to nowhere)' \
	    '^result	steady	us	[1-9]' '^result	quiet2	' \
	    '^note	remark	a remark' '^fact	found	something'
	lacks rec '	-' '	0	' '^result	\(crash\|hang\|nothing\)'
	has out 'crash .*killed by signal 11' '~ a remark'
}

test_not_possible_here_is_no_fault() {
	odd
	status 0 ./odd -q -t 0.1 steady missing
	status 1 ./odd -q -t 0.1 steady broken
}

test_what_was_not_here_is_tried_again() {
	odd
	status 0 ./odd -q -t 1 -o rec again steady
	holds "$(value rec again 5) > 10"
}

test_late_fault_keeps_the_figure() {
	odd
	status 1 ./odd -q -t 1 -o rec late steady
	holds "$(value rec late 5) > 10"
	has rec '^note	late	late fault'
}

test_pinned_to_one_cpu() {
	odd
	status 0 ./odd -q -t 0.1 -o rec pinned unpinned
	has rec '^fact	pinned	1$' "^fact	unpinned	$(nproc)\$"
}

# what the clock of the core did over a round, it did from end to end
test_clock_before_and_after() {
	odd
	status 0 ./odd -q -t 0.01 -o rec first mem_mhz mhz
	has rec '^fact	at_mhz	1$' '^fact	at_first	2$' \
	    '^fact	at_mem_mhz	3$'
}

test_killed_leaves_no_process() {
	odd
	./odd -q hang &
	p=$!
	sleep 0.3
	kill -9 $p
	wait $p || test $? = 137
	sleep 0.2       # and tests/run looks for what is left
}

# a delay of 5% put into one figure of eight, which are run for two seconds
slower_by_five() {
	rm -f old.rec new.rec
	for side in old new; do
		status 0 quiet ./$side -q -t 2 -o $side.rec steady twice \
		    quiet1 quiet2 rate subtract pinned unpinned
	done
	status 3 ./new -c -w 3 old.rec new.rec
	has out '^Worse: steady -[45]' && lacks out '^Better'
}

# skips a machine that is not idle: where the rounds of a loop differ by 1%
busy() {
	for file; do
		awk -F '\t' '$1 == "result" && $2 == "steady" {
			exit !($6 > $5 * 1.01) }' "$file" &&
		    skip 'the machine is too busy'
	done
	return 0
}

test_delay_is_found() {
	odd && mv odd old
	odd -DSTEADY=10500 && mv odd new
	slower_by_five || slower_by_five || {
		busy old.rec new.rec
		return 1
	}
}
