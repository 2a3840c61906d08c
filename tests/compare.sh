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
	lacks out 'differ all over'
	status 1 "$bench" -c old missing
	status 1 "$bench" -c -w 5 old
	has err 'nothing to compare'
	status 1 "$bench" -C old -- missing
	status 1 "$bench" -C old -- new -- old
	has err '^bench: --: '
	for a in '-C old' '-C old --' '-C -- old' '-c -w x old new' \
	    '-c -w -1 old new'; do
		status 2 "$bench" $a
		has err '^bench: -[Cw]: '
	done
}

# from a machine of 1996 to a fast one whose figures have marks: changes are
# short, and their row is not shifted by its name
test_wide_changes() {
	kernel 2.0.23 >old
	awk -F '\t' -v OFS='\t' '$3 == "MB/s" {
			$4 *= 123.4; $5 = $4 / 2; $6 = $4 * 2 }
		{ print }' old | sed 's/Linux 2.0.23/Linux 6.18.44-fc-v657/
			s/darkstar/a-host-with-a-name/' >new
	status 0 "$bench" -c old new
	has out '^change %  *(+12K)  *(+12K)  *(+12K)'
	lacks out '.\{81\}'
	sed -n '/^Host.*Pipe *TCP/,/^change/p' out >bw
	holds "$(awk '/^change/ { print index($0, "(+12K)") }' bw) == \
	    $(awk '/4\.32K/ { print index($0, "4.32K") }' bw) - 1"
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
	record pipe_lat us 9003.0 >new
	status 3 "$bench" -c old new
	has out '^change % *(-300K) *$'
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

# where nothing is known, nothing is said to have stood still
test_nothing_is_known() {
	record pipe_lat us 5.000 2,9,4,8,5 >a
	cp a b
	status 0 "$bench" -c a b
	has out '^OS: cannot tell' '^Cannot tell (?): 1 figure'
	lacks out 'moved'
}

test_runs_in_one_file() {
	status 0 "$bench" -q -t 0.2 -r 3 -n again -o rec null_syscall pipe_lat
	holds "$(grep -c '^bench	1' rec) == 3 && \
	    $(grep -c '^result	pipe_lat' rec) == 3"
	has out 'again #1' 'again #3'
	cp out live
	status 0 "$bench" -c rec
	diff live out
	# the rounds of all of them count, and labels are their own
	cp rec rec2
	status 0 "$bench" -C rec rec2 -- rec2 rec
	has out ' again x6 '
	for r in 0 x 1001 ''; do
		status 2 "$bench" -r "$r" pipe_lat
		has err '^bench: -r: '
	done
}

# the recipe of README: which of eight commits made it slow?
test_bisect() {
	git init -q -b main repo
	cd repo
	for i in 1 2 3 4 5 6 7 8; do
		test $i -lt 6 && echo 10000 >ns || echo 12000 >ns
		echo $i >n
		git add n ns
		git -c user.name=x -c user.email=x@x commit -q -m "commit $i"
	done
	cat >../judge <<-'END'
	. "$top/tests/lib"
	. "$top/tests/compare.sh"
	odd -DSTEADY=$(cat ns) || exit 125
	rm -f ../new.rec
	quiet ./odd -q -t 0.5 -r 2 -o ../new.rec steady || exit 125
	./odd -c -w 5 ../good.rec ../new.rec
	case $? in
	0) exit 0 ;;		# good
	3) exit 1 ;;		# slower
	*) exit 125 ;;		# cannot tell
	esac
	END
	export top
	odd -DSTEADY=10000
	quiet ./odd -q -t 0.5 -r 2 -o ../good.rec steady
	git bisect start HEAD HEAD~7
	git bisect run sh ../judge >../log
	git bisect log >../log
	grep -q 'first bad commit: .* commit 6' ../log || busy ../*.rec
	has ../log 'first bad commit: \[[0-9a-f]*\] commit 6'
}

# Rates in percent of 1,000 comparisons: false alarms 5 at most, a slow-down
# of 2% never a gain, one of 5% found on a quiet machine.  Here and on the
# records of twelve runs of one machine.
test_verdicts_are_true() {
	$CC -std=c11 -D_GNU_SOURCE -O2 -static -o verdict \
	    -ffunction-sections -Wl,--gc-sections \
	    "$top/tests/verdict.c" "$top/compare.c" "$top/record.c" \
	    "$top/report.c" "$top/harness.c" -lm
	./verdict sim 1000 >rates
	./verdict real "$top/tests/same.rec" pipe_lat l2_lat >>rates
	./verdict many 100 >>rates
	cat rates
	awk -F '[ %,]+' '
		{ for (i = 1; i < NF; i++) is[$i] = $(i + 1)
		  alarms += is["alarms"] > 5; wrong += is["way"] > 0
		  quiet = /x 0.5, .*by 5%/; n += quiet
		  missed += quiet && is["found"] < 95 }
		END { exit alarms || wrong || missed || n != 3 }' rates
	# half the rows of a virtual machine, by two runs a side or three
	./verdict rows "$top/tests/same.rec" >found
	cat found
	holds "$(awk '$3 >= 95' found | wc -l) >= 13 && \
	    $(awk '$4 >= 95' found | wc -l) >= 13"
}

# hosts' lines, mixed as pdsh mixes them; a host cut short costs no other
test_lines_of_many_hosts() {
	for h in 1 2 3; do
		record pipe_lat us $h.5 |
		    sed "s/host	x/kernel	k$h/" >rec$h
		sed "s/^/node$h: /" rec$h >pdsh$h
		sed "s/^/node$h	/" rec$h >tag$h
	done
	paste -d '\n' pdsh1 pdsh2 pdsh3 >mixed
	status 0 "$bench" -c mixed
	has out '^node1 *k1 *1\.5$' '^node2 *k2 *2\.5$' '^node3 *k3 *3\.5$'
	cat tag3 tag1 tag2 >tagged
	status 0 "$bench" -c tagged
	has out '^node1 *k1 *1\.5$' '^node2 *k2 *2\.5$' '^node3 *k3 *3\.5$'
	# srun --label has numbers, of one width
	sed 's/^node2: /10: /; s/^node\(.\): / \1: /' mixed >labelled
	status 0 "$bench" -c labelled
	has out '^ *1 *k1 *1\.5$' '^10 *k2 *2\.5$' '^ *3 *k3 *3\.5$'
	grep -v 'node2: end' mixed >cut
	status 1 "$bench" -c cut
	has err 'cut:11: node2: no end: the record was cut short (its 1 res'
	has out '^node1 *k1 *1\.5$' '^node2 *k2 *2\.5$' '^node3 *k3 *3\.5$'
}

# 60 figures each, in 2 s and 64 MB; sorted
test_many_records() {
	awk 'BEGIN {
		rounds = "\t1.0\t1.9\t1.1,1.2,1.3,1.4,1.5\n"
		keys = split("pipe_lat udp_lat tcp_lat pipe_bw tcp_bw", key)
		for (i = 0; i < 10000; i++) {
			printf "bench\t1\nfact\thost\tnode%05d\n", i
			for (k = 0; k < 25; k++)
				printf "fact\tf%d\tvalue %d\n", k, k * (i % 9)
			for (k = 1; k <= 60 - keys; k++)
				printf "result\tkey%d\tus\t1.%d%s", k, i, rounds
			for (k = 1; k <= keys; k++)
				printf "result\t%s\tus\t%d%s", key[k], \
				    i * 7919 % 10000 + 1, rounds
			print "end\t60"
		} }' >many
	( ulimit -t 2 && ulimit -v 65536 &&
	    "$bench" -c -k pipe_lat - <many >out )
	holds "$(wc -l <out) > 20000"
	head -4 out | tail -1 | grep -q '^node00000 '
}

test_summary_names_outliers() {
	for i in 1 2 3 4 5 6 7 8 9; do
		record pipe_lat us 4.0$i | sed "s/host	x/host	n$i/
			/^end/s/.*/result	pipe_bw	MB\/s	20.0$i\nend	2/"
	done >recs
	record pipe_lat us 9.0 | sed 's/host	x/host	slow/' >>recs
	status 0 "$bench" -c -m recs
	has out '^pipe_lat  *4\.03.*  *4\.05.*  *4\.07.*  *4\.01[0-9]* n1 ' \
	    '^pipe_lat .*  *9\.0[0-9]* slow' '^    far off: slow 9\.0' \
	    '^pipe_bw .* 20\.09[0-9]* n9  *20\.01'
	status 0 "$bench" -c -k pipe_bw recs
	holds "$(grep -c '^n' out) == 18"
	sed -n '/Pipe/,$p' out | grep '^n' | head -1 | grep -q '^n9 '
	status 2 "$bench" -c -k nonsense recs
	# rates of X are long
	for n in 28322118 0.00041 123456789012; do
		record xnoop 1/s $n | sed 's/host	x/host	a.long.name/'
	done >recs
	status 0 "$bench" -c -m recs
	lacks out '.\{81\}' ' $'
}

test_formats() {
	kernel 2.0.23 >old
	kernel 2.0.24 >new
	status 3 "$bench" -c -f tsv old new
	holds "$(awk -F '\t' 'NF != 8' out | wc -l) == 0"
	has out '^x_fill	stones	1018356	522026	-48.74	-48.74	-48.74	worse$'
	status 0 "$bench" -c -f tsv old
	holds "$(awk -F '\t' 'NF != 11' out | wc -l) == 0 && $(wc -l <out) == 34"
	status 0 "$bench" -q -t 0.1 -n 'a "name"\' -f json null_syscall
	has out '"label":"a \\"name\\"\\\\"' '"rounds":\[[0-9.,]*\]}$'
	status 2 "$bench" -c -f xml old
	status 3 "$bench" -c -f json old new
	command -v jq >/dev/null || skip 'jq is not installed: JSON not checked'
	holds "$(jq -s 'map(select(.verdict == "worse")) | length' out) == 6"
	status 0 "$bench" -c -f prom old
	promtool=$(command -v promtool) || promtool=$top/cross/promtool
	test -x "$promtool" ||
	    skip 'there is no promtool: Prometheus text not checked'
	"$promtool" check metrics <out
	status 3 "$bench" -c -f prom old new
	"$promtool" check metrics <out
}

test_picture() {
	kernel 2.0.23 >old
	kernel 2.0.24 | sed 's/2\.0\.24/<\&">/' >new
	status 3 "$bench" -c -g out.svg old new
	has out.svg '^<svg xmlns=' 'x_fill</text>' '&#60;&#38;&#34;&#62;' \
	    '^</svg>$'
	holds "$(grep -c '<circle' out.svg) == 33 && \
	    $(grep -c '>0%<' out.svg) == 2"       # a scale at each end
	# names as long as those of clouds are not cut off: a line a side
	has out.svg '>old: darkstar Linux 2.0.23</text>$' '>new: darkstar '
	python3 -c 'import sys, xml.dom.minidom as x; x.parse("out.svg")' ||
	    skip 'no python3: XML not checked'
	status 1 "$bench" -c -g no/such.svg old new
	has err '^bench: no/such.svg: .*No such file'
	status 1 "$bench" -c -g out.svg old
}

# a number beyond all measure is none, and spoils no other figure; an interval
# is never infinite
test_far_numbers() {
	for k in pipe_lat udp_lat tcp_lat rpc_udp_lat rpc_tcp_lat \
	    null_syscall null_process simple_process mmap_lat; do
		record $k us 10 10,10.01,9.99,10,10.02
	done | sed '2,$ { /^bench/d; /^fact/d }; /^end/d' >old
	sed 's/\(null_syscall.us\).*/\1	1e18	1e18	1e18	1e-18,1e18/' old >new
	sed 's/^\(result.pipe_lat.us\).*/\1	1e300/' old >far
	for f in old new far; do
		echo "end	9" >>$f
	done
	status 1 "$bench" -c -f json old far
	has err '^bench: far:2: .*value is not a number from 1e-18 to 1e18 '
	holds "$(grep -c same out) == 8"
	for f in tsv json prom; do
		status 0 "$bench" -c -f $f old new
		lacks out 'inf' 'nan'
		holds "$(grep -c same out) == 8"
	done
	# sizes of memory, too: there is an end to the axes
	printf 'bench\t1\nresult\tcurve_lat_%s\tns\t%s\n' 1K 2 4K 1e-9 \
	    9e307M 3 | sed '3,$ { /^bench/d }' >curve
	timeout 10 "$bench" -c -g mem.svg curve || test $? = 1
	timeout 10 "$bench" -c -g mem curve || test $? = 1
	lacks mem.svg inf nan e+
}

# what cannot be compared is said, and the rest is compared
test_unlike_records() {
	kernel 2.0.23 | sed 's/^fact	x_depth.*/fact	stones	1/' >old
	kernel 2.0.24 | sed 's/^fact	x_depth.*/fact	stones	2/
		s/pipe_lat	us/pipe_lat	ns/; /^result	udp_lat/d
		s/^result	tcp_lat.*/none	tcp_lat	no loopback/' >new
	status 1 "$bench" -c old new            # its count is wrong
	sed -i 's/^end.*/end	31/' new
	status 0 "$bench" -c old new
	has out '^  stones: 1 -> 2' \
	    '^Not compared, stones of different versions: x_line x_fill' \
	    '^Not compared, in other units: pipe_lat\.' \
	    '^Not compared, not in both: udp_lat\.' \
	    '^Not compared, not measured in both: tcp_lat\.'
	lacks out 'X drawing: 5' 'Worse'
}

test_facts_that_differ() {
	for g in powersave performance; do
		record pipe_lat us 100.0 | sed "1a\\
fact	governor	$g\\
fact	steal	$g\\
fact	x_depth	8" >$g
	done
	status 0 "$bench" -c powersave performance
	has out '^  governor: powersave -> performance'
	lacks out 'steal:' 'x_depth:'
	holds "$(grep -n governor out | cut -d: -f1) < $(grep -n Pipe out |
	    cut -d: -f1)"
	# what a hypervisor took is told where it disturbs
	for steal in 0.10 1.90 12.5; do
		record pipe_lat us 100.0 | sed "1a\
fact	steal	$steal%" >$steal
	done
	status 0 "$bench" -c 0.10 1.90
	lacks out 'steal'
	status 0 "$bench" -c 0.10 12.5
	has out '^  steal: 0.10% -> 12.5%'
}

test_a_thousand_unknown_keys() {
	for side in old new; do
		awk -v s=$side 'BEGIN { print "bench\t1"
			for (i = 0; i < 1000; i++)
				printf "result\tkey%d\tus\t%d\n", i, i + 1
			print "result\tpipe_lat\tus\t100.0\nend\t1001" }' >$side
	done
	status 0 "$bench" -c old new
	has out 'unknown here: 2000 figures' 'OS: nothing moved'
	lacks out 'key7'
}

# what a row, or a copy of it, found beside its figure
test_parts_of_known_keys() {
	for side in old new; do
		printf 'bench\t1\nresult\tline10\t1/s\t1000
			result\tline10_null\t1/s\t2000
			result\tpipe_lat\tus\t100.0
			result\tpipe_lat.2\tus\t100.0
			result\tline10x\t1/s\t2000\nend\t5\n' |
		    sed 's/^\t*//' >$side
	done
	status 0 "$bench" -c old new
	has out 'unknown here: 2 figures'
}

# README's way to a fleet, over three network namespaces
test_parallel() {
	command -v parallel >/dev/null || skip 'GNU parallel is not installed'
	unshare -n true || skip 'no network namespaces here'
	parallel --tag "unshare -n $bench -q -t 0.1 -n {} -f record \
	    null_syscall" ::: node1 node2 node3 >recs
	has recs '^node1	bench	1$'
	status 0 "$bench" -c recs
	has out ' node1 ' ' node2 ' ' node3 '
	# and as records again
	status 0 "$bench" -c -f record recs
	cp out again
	status 0 "$bench" -c -f record again
	diff again out
	holds "$(grep -c '^bench	1$' again) == 3"
}

# pdsh and clush, which take the same words
shell_of_many() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
	"$1" -R exec -w 'node[1-3]' "$bench" -q -t 0.2 -n %h -f record \
	    null_syscall pipe_lat >recs
	has recs '^node2: bench	1$'
	status 0 "$bench" -c recs
	has out ' node1 ' ' node2 ' ' node3 '
}

test_pdsh() {
	shell_of_many pdsh
}

test_clush() {
	shell_of_many clush
}
