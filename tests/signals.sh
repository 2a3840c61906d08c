# ^C and its like: what was measured is kept, and the end is the signal's

interrupted() {
	odd
	env --default-signal="$1" ./odd -q -t 20 -o rec steady noisy \
	    >out 2>err &
	p=$!
	sleep 1
	kill -"$1" $p
	got=0
	wait $p || got=$?
	test $got = $((128 + $2))
	has rec '^bench	1' '^result	steady	' '^end	'
	has out Steady
}

test_sigterm() {
	interrupted TERM 15
}

test_sighup() {
	interrupted HUP 1
}

# a shell starts what runs in the background with SIGINT ignored
test_sigint() {
	odd
	got=0
	timeout -s INT 1 env --default-signal=INT ./odd -q -t 20 -o rec \
	    steady noisy >out 2>err || got=$?
	test $got = 124
	has rec '^result	steady	' '^end	[12]'
	has out Steady
}

test_nohup_is_heeded() {
	odd
	nohup ./odd -q -t 1 -o rec steady >out 2>err &
	p=$!
	sleep 0.3
	kill -HUP $p
	wait $p
	has rec '^end	[12]'
}
