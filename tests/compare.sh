# compare.c: records against each other.  How true the verdicts are is
# measured by tests/verdict.c.

# kernel NAME: the record of that kernel among those of the first report
kernel() {
	awk -v RS='bench\t1\n' -v k="	Linux $1
" 'index($0, k) { printf "bench\t1\n%s", $0 }' "$top/tests/seed.rec"
}

# record KEY UNIT VALUE [ROUND,...]: a record of one figure
record() {
	printf 'bench\t1\nfact\thost\tx\nresult\t%s\t%s\t%s' "$1" "$2" "$3"
	test -z "$4" || printf '\t%s\t%s\t%s' "$3" "$3" "$4"
	printf '\nend\t1\n'
}

test_first_report() {
	kernel 2.0.23 >old
	kernel 2.0.24 >new
	status 3 "$bench" -c old new
	diff "$top/tests/changes.out" out
	cmp err /dev/null
	# the same in one file, and as two groups
	cat old new >both
	status 3 "$bench" -c both
	diff "$top/tests/changes.out" out
	status 3 "$bench" -C old -- new
	diff "$top/tests/changes.out" out
	status 3 "$bench" -c -w 48 old new
	status 0 "$bench" -c -w 50 old new
	status 3 "$bench" -c new old
	has out '1 slower\|Worse: x_cmplx -18%'
}

# the sign says better or worse, whatever the unit
test_signs() {
	record pipe_lat us 10.000 10.00,10.01,9.99,10.00,10.00 >old
	record pipe_lat us 12.000 12.00,12.01,11.99,12.00,12.00 >new
	status 3 "$bench" -c old new
	has out '^change % *-20 *$' '^Worse: pipe_lat -20%' \
	    '^Communication: 1 of 1 worse, -20%'
	status 0 "$bench" -c new old
	has out '^change % *+17 *$' '^Better: pipe_lat +17%'
	record pipe_bw MB/s 10.000 10.00,10.01,9.99,10.00,10.00 >old
	record pipe_bw MB/s 12.000 12.00,12.01,11.99,12.00,12.00 >new
	status 0 "$bench" -c old new
	has out '^change % *+20 *$' '^Better: pipe_bw +20%'
	status 3 "$bench" -c new old
	status 0 "$bench" -c old old
	has out '^change % *= *$' 'nothing moved'
}

test_status_and_limit() {
	record pipe_lat us 10.000 10.00,10.01,9.99,10.00,10.00 >old
	record pipe_lat us 10.700 10.70,10.71,10.69,10.70,10.70 >new
	status 3 "$bench" -c old new
	status 3 "$bench" -c -w 6.9 old new
	status 0 "$bench" -c -w 7.1 old new
	has out '^Worse: pipe_lat -7.0%'
	status 1 "$bench" -c old missing
	status 1 "$bench" -c -w 5 old
	has err 'nothing to compare'
	status 1 "$bench" -C old -- missing
	for a in '-C old' '-C old --' '-C -- old' '-c -w x old new' \
	    '-c -w -1 old new'; do
		status 2 "$bench" $a
		has err '^bench: -[Cw]: '
	done
}

# one value tells little, and less than its digits say nothing
test_one_value() {
	record pipe_lat us 3 >old
	record pipe_lat us 2 >new
	status 0 "$bench" -c old new
	has out '^change % *? *$' 'one value can tell'
	record pipe_lat us 3.0 >old
	record pipe_lat us 2.0 >new
	status 0 "$bench" -c old new
	has out '^change % *(+33) *$'
	record pipe_lat us 100.0 >old
	record pipe_lat us 114.0 >new
	status 0 "$bench" -c old new
	has out '^change % *? *$'
	record pipe_lat us 116.0 >new
	status 3 "$bench" -c old new
	has out '^change % *(-16) *$'
}

# as large as you like, if the rounds of a side are as far apart
test_noise_is_no_news() {
	record pipe_lat us 10.000 10,11,9,10.5,9.5 >old
	record pipe_lat us 11.000 11,10,12,11.5,10.5 >new
	status 0 "$bench" -c old new
	lacks out 'Worse'
}

# Rates in percent of 1,000 comparisons: false alarms 5 at most, a slow-down
# of 2% never a gain, one of 5% found on a quiet machine.  Here and on the
# records of twelve runs of one machine.
test_verdicts_are_true() {
	$CC -std=c11 -D_GNU_SOURCE -O2 -static -o verdict \
	    "$top/tests/verdict.c" "$top/compare.c" "$top/record.c" \
	    "$top/report.c" "$top/harness.c" -lm
	./verdict sim 1000 >rates
	./verdict real "$top/tests/same.rec" pipe_lat l2_lat >>rates
	cat rates
	awk -F '[ %,]+' '
		{ for (i = 1; i < NF; i++) is[$i] = $(i + 1)
		  alarms += is["alarms"] > 5; wrong += is["way"] > 0
		  quiet = /x 0.5, .*by 5%/; n += quiet
		  missed += quiet && is["found"] < 95 }
		END { exit alarms || wrong || missed || n != 3 }' rates
}
