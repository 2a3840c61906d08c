# record.c and report.c: records read, written and printed

test_seed_tables() {
	status 0 "$bench" -c "$top/tests/seed.rec"
	cmp out "$top/tests/seed.out" || diff "$top/tests/seed.out" out
	cmp err /dev/null
}

# long names, marks, other units, figures too large or small for a cell
test_wide_tables() {
	status 0 "$bench" -c "$top/tests/wide.rec"
	diff "$top/tests/wide.out" out
	lacks out '.\{81\}'
	# one row each, told apart
	holds "$(grep -c '6.1.0-18' out) == 5 && $(grep -c '6.1.0-21' out) == 6"
}

test_bad_lines_are_named() {
	status 1 "$bench" -c - <"$top/tests/bad.rec"
	diff "$top/tests/bad.err" err
	has out '^ok  *90~'             # the good rows come all the same
}

test_not_a_record() {
	printf '' >empty
	status 1 "$bench" -c empty
	has err 'empty:0: empty'
	status 1 "$bench" -c .
	has err '\.:0: Is a directory'
	status 1 "$bench" -c missing "$top/tests/seed.rec"
	has err missing
	cmp out "$top/tests/seed.out"
	status 1 "$bench" -c "$bench" "$top/tests/seed.rec"
	holds "$(wc -l <err) == 1"      # once, however much it is
	cmp out "$top/tests/seed.out"
}

test_line_of_a_megabyte() {
	{
		printf 'bench\t1\nfact\tx\t'
		head -c 1000000 /dev/zero | tr '\0' x
		printf '\nresult\tpipe_lat\tus\t12.3\nend\t1\n'
	} >long
	status 1 "$bench" -c long
	has err 'long:2: line of more than 4096 bytes'
	has out '12\.3$'
}

# cut anywhere, a record never gives a figure that was not in it
test_cut_short() {
	printf 'bench\t1\nresult\tpipe_lat\tus\t12.345\nend\t1\n' >whole
	for n in 9 20 26 28 29 30 32 33; do
		head -c $n whole >cut
		status 1 "$bench" -c cut
		has err 'cut:[0-9]*: '
		lacks out '1[0-9.]*$'
	done
	head -c 34 whole >cut
	status 1 "$bench" -c cut
	has err 'no end: the record was cut short (its 1 results count)'
	has out '12\.3$'
}

# a run as its record read back, in tables and as -f has it
test_run_prints_as_its_record() {
	sh -c 'while :; do :; done' & busy=$!    # a line of what disturbed it
	trap 'kill $busy' EXIT
	status 0 "$bench" -q -t 1 -n new -o rec proc comm mem
	has out '^disturbed: '
	mv out live
	status 0 "$bench" -c rec
	diff live out
	for f in tsv json; do
		rm rec
		status 0 "$bench" -q -t 0.1 -f $f -o rec proc bw
		mv out live
		status 0 "$bench" -c -f $f rec
		diff live out
	done
	# rows without a figure, too
	odd
	for f in record tsv json prom; do
		rm rec
		status 0 ./odd -q -t 0.1 -f $f -o rec steady missing nothing
		mv out live
		status 0 ./odd -c -f $f rec
		diff live out
	done
}

# ... also where rounding decides on a mark or a digit
test_rounding() {
	(cd "$top" && $CC -std=c11 -D_GNU_SOURCE -static -ffunction-sections \
	    -Wl,--gc-sections -o "$OLDPWD/round" \
	    tests/round.c harness.c record.c report.c)
	status 0 ./round rec
	has out ' 1\.23M$'
	diff -B out err
}

# one between parts, also where what stands first is not a table
test_empty_lines() {
	printf '%s	%s	%s	%s\n' bench 1 '' '' fact host vm '' \
	    fact x_cpu_line '1 2 3 4 5 6 7 8 9' '' \
	    result line10 1/s 5 result pipe_lat us 4 end 2 '' '' >rec
	status 0 "$bench" -c -v rec
	has out '^X CPU %' '^line10 '
	awk '!NF && !last || /^[X*]/ && NR > 1 && last { exit 1 }
		{ last = NF }' out
}

# tables that nobody can see do not go into the record
test_closed_output() {
	for f in out in err; do
		rm -f rec
		case $f in
		out) "$bench" -q -t 0.1 -o rec null_syscall >&- || got=$? ;;
		in)  "$bench" -q -t 0.1 -o rec null_syscall <&- ;;
		err) "$bench" -q -t 0.1 -o rec -s 'exit 1' null_syscall 2>&- ;;
		esac
		holds "$(tail -n 1 rec | grep -c '^end	1$') == 1"
	done
	holds "$got == 1"
	"$bench" -c rec
}

test_ten_thousand_records() {
	"$bench" -q -t 1 -o one os || :
	awk '{ l[NR] = $0 } END {
		for (i = 0; i < 10000; i++)
			for (k = 1; k <= NR; k++)
				print l[k]
	}' one >many
	# cost of the program itself: others may run too
	( ulimit -t 5 && "$bench" -c many >out )
	holds "$(wc -l <out) > 40000"
}

# some lines of facts above the tables of a live run, and of no other
test_header() {
	status 0 "$bench" -t 0.1 -o rec null_syscall
	sed '/^$/q' out >facts
	has facts '^cpu: .* CPUs' '^memory: ' '^build: .*\(gcc\|[Cc]lang\) [0-9]'
	lacks out '.\{81\}'
	# nothing of it is cut off
	tr -s ' \n' ' ' <facts >line
	has line "$(sed -n 's/^fact	mitigations	//p' rec)"
	lacks facts 'Processor, '
	status 0 "$bench" -c rec
	lacks out '^cpu: '
	status 0 "$bench" -q -t 0.1 null_syscall
	lacks out '^cpu: '
}

# rows of X have no room for both: the kernel, or where only that differs the
# host
test_x_rows_name_their_hosts() {
	for h in alpha beta gamma; do
		sed "s/darkstar/$h/; /^fact	kernel/s/2\.1\.7/2.0.24/" \
		    "$top/tests/seed.rec" | sed '/^end/q' |
		    sed '/^fact	host/a fact	disturbed	1 of 2 rounds' |
		    sed '/^fact	host/a fact	x_cpu_line	1 2 3 4 5 6 7 8 9'
	done >rec
	status 0 "$bench" -c rec
	has out '^alpha *|8|' '^beta *|8|' '^gamma *|8|' \
	    '^X CPU .* - beta$' '^beta: disturbed: '
	sed 's/^\(fact	host	\).*/\1same/' rec >one
	status 0 "$bench" -c one
	lacks out '^same *|'
	has out '2.0.24 *|8|'
}
