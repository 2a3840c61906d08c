# The X server that bench starts and ends: scripts that are called as one is,
# in front of Xvfb.  Each notes its process and its arguments in ./ran.

# fake NAME COMMANDS: a program that a path of ours finds first
fake() {
	mkdir -p bin
	printf '#!/bin/sh\necho $$ "$@" >>"%s"\n%s\n' "$PWD/ran" "$2" >bin/$1
	chmod +x bin/$1
	case $PATH in "$PWD/bin:"*) ;; *) PATH=$PWD/bin:$PATH ;; esac
}

with_xvfb() {
	with_x
	xvfb=$(command -v Xvfb) || skip 'no Xvfb'
}

# gone: no server that has run is there, nor anything that it had
gone() {
	while read -r pid display rest; do
		display=${display#:}
		if kill -0 -$pid || test -e /tmp/.X$display-lock ||
		    test -e /tmp/.X11-unix/X$display; then
			echo "left: $pid :$display"
			return 1
		fi
	done <ran
}

# until_gone: what ends behind our back has 4 s for it
until_gone() {
	for n in 1 2 3 4 5 6 7 8; do
		sleep 0.5
		if gone; then
			sleep 0.1       # its keeper sees to that
			return 0
		fi
	done
	return 1
}

# started: bench has started it and draws
started() {
	for n in $(seq 100); do
		sleep 0.1
		test -s ran && read -r pid display rest <ran &&
		    test -e "/tmp/.X11-unix/X${display#:}" && break
	done
	sleep 0.3
}

test_xstart() {
	with_xvfb
	fake Xours "(trap 'echo bye >$PWD/bye; exit' TERM
		while :; do sleep 0.05; done) &
	exec $xvfb \"\$@\""
	status 0 "$bench" -q -t 0.1 -o rec -s 'Xours  -screen 0 "800x600x16"' \
	    line10
	has rec '^fact	x_server	started' '^fact	x_comm	unix' \
	    '^fact	x_size	800x600' '^fact	x_depth	16' \
	    '^fact	x_command	Xours  -screen 0' '^result	line10	'
	has out '^X: on a server started for it: Xours '
	test ! -s err
	gone
	has bye bye                     # SIGTERM comes first, for all of it
	# one for each run; the words of bench -i have it too
	rm ran
	status 0 "$bench" -i bench.q bench.t=0.1 bench.only=line10 \
	    'bench.s=Xours -screen 0 320x240x24' bench.save=-
	has out '^fact	x_size	320x240' '^fact	x_server	started'
	gone
	rm ran
	status 0 "$bench" -q -t 0.1 -r 2 -s Xours line10
	holds "$(wc -l <ran) == 2"
	gone
}

# without -s: Xvfb, but no server that takes the screen
test_xstart_by_itself() {
	with_xvfb
	fake Xvfb "exec $xvfb \"\$@\""
	for x in X Xorg Xfbdev; do
		fake $x 'exit 1'
	done
	status 0 "$bench" -q -t 0.1 -o rec line10
	has rec '^fact	x_size	1280x1024' '^fact	x_server	started'
	holds "$(wc -l <ran) == 1"
	gone
	# rows of the system need none, nor does -s ''
	rm ran
	status 0 "$bench" -q -t 0.1 null_syscall
	status 0 "$bench" -q -t 0.1 -s '' -o null line10
	has null '^fact	x_server	built-in'
	test ! -e ran
	# on a text console they are tried, in turn
	2>/dev/null >/dev/tty9 || skip 'no /dev/tty9'
	"$bench" -q -t 0.1 -o vt line10 2>/dev/tty9
	has vt '^fact	x_server	started' '^fact	x_command	Xvfb'
	holds "$(wc -l <ran) == 7"
	gone
}

test_xstart_finds_none() {
	with_x
	mkdir empty
	status 0 env PATH="$PWD/empty" "$bench" -q -t 0.1 -o rec line10
	has rec '^fact	x_server	built-in' \
	    '^fact	x_remark	no DISPLAY is set .*draws nothing'
	test ! -s err
	status 1 env PATH="$PWD/empty" "$bench" -q -t 0.1 -s Xnone line10
	has err 'Xnone: not found' '^bench: Xnone ended with status 127'
	has out '^X: no DISPLAY .*; Xnone ended with status 127'
}

# a server that knows -displayfd may take another display than it is given;
# an old one has SIGUSR1
test_xstart_old_servers() {
	with_xvfb
	fake Xother "n=\$((\${1#:} + 100)); shift; echo \$\$ :\$n >>ran
	exec $xvfb :\$n \"\$@\""
	status 0 "$bench" -q -t 0.1 -o rec -s Xother line10
	has rec '^fact	x_server	started'
	gone
	rm ran
	fake Xold "case \$* in *-displayfd*) echo what? >&2; exit 1 ;; esac
	exec $xvfb \"\$@\""
	status 0 "$bench" -q -t 0.1 -o rec2 -s Xold line10
	has rec2 '^fact	x_server	started'
	test ! -s err
	holds "$(wc -l <ran) == 2"
	gone
}

test_xstart_fails() {
	with_x
	fake Xbad 'echo "no screen on line 3" >&2; exit 3'
	status 1 "$bench" -q -t 0.1 -o rec -s 'Xbad -depth 3' line10
	has err '^no screen on line 3$' '^bench: Xbad ended with status 3$'
	has rec '^fact	x_server	built-in' '^fact	x_remark	.*; Xbad ended'
	fake Xbad 'seq 1000; kill -9 $$'
	status 1 "$bench" -q -t 0.1 -s Xbad line10
	has err '^1000$' '^bench: Xbad killed by signal 9$'
	lacks err '^500$'
	# nobody has asked for this one: it is told all the same
	fake Xvfb 'echo no memory >&2; exit 1'
	status 0 "$bench" -q -t 0.1 -o rec line10
	has err '^no memory$' '^bench: Xvfb ended with status 1$'
	gone
}

# ... since another had its display a moment before: that one stays
test_xstart_leaves_others() {
	with_xvfb
	fake Xlate "setsid $xvfb \$1 -displayfd 3 3>late & echo \$! >>others
	read -r n <late; exit 1"
	mkfifo late
	trap 'kill $(cat others); sleep 0.3' EXIT
	status 1 "$bench" -q -t 0.1 -s Xlate line10
	holds "$(wc -l <others) == 2"
	while read -r pid display rest; do
		status 0 "$bench" -q -t 0.1 -o rec -d "$display" line10
		has rec '^fact	x_server	external'
		rm rec
	done <ran
}

# one that neither starts nor heeds SIGTERM, given one second
test_xstart_hangs() {
	with_x
	fake Xhang "trap '' TERM; echo waiting; sleep 60"
	(cd "$top" && $CC -std=c11 -D_GNU_SOURCE -DWITH_X=1 -DXPATIENCE=1 -O1 \
	    -isystem "${XCB_INCLUDE:-$xcb/include}" -static \
	    -o "$OLDPWD/hasty" xstart.c $(ls *.o | grep -v xstart.o) \
	    "${XCB_LIB:-$xcb/libxcb.a}")
	status 1 timeout 20 ./hasty -q -t 0.1 -s Xhang line10
	has err '^waiting$' '^bench: Xhang timed out after 1 s$'
	has out "of the built-in server"
	holds "$(wc -l <ran) == 1"
	gone
}

test_xstart_dies() {
	with_xvfb
	fake Xbrief "$xvfb \"\$@\" & sleep 1; kill -9 \$!; exit 7"
	status 1 "$bench" -q -t 60 -o rec -s Xbrief xstones
	has err '^bench: Xbrief ended with status 7$'
	has rec "^result	line10	" "^none	cmplx	.*\(gone\|closed\).* (did it die?)"
	gone
}

# stopped SIGNAL STATUS COMMAND...: of bench; the server is ended
stopped() {
	sig=$1 want=$2
	shift 2
	rm -f ran
	setsid env --default-signal=INT "$@" -q -t 60 -s Xours xstones >out 2>err &
	p=$!
	started
	test -z "${freeze-}" || kill -STOP -"$(head -n 1 ran | cut -d ' ' -f 1)"
	kill -"$sig" -$p                # as a terminal does
	got=0
	wait $p || got=$?
	test $got = "$want"
}

test_xstart_bench_is_stopped() {
	with_xvfb
	fake Xours "exec $xvfb \"\$@\""
	stopped TERM 143 "$bench"
	gone
	has out '^X: on a server started'
	stopped INT 130 "$bench"
	gone
	stopped KILL 137 "$bench"
	until_gone
}

# ... and the server does not heed SIGTERM, or was started by a script
test_xstart_server_is_stubborn() {
	with_xvfb
	fake Xours "exec $xvfb \"\$@\""
	freeze=1 stopped TERM 143 "$bench"
	gone
	freeze=1 stopped KILL 137 "$bench"
	until_gone
	fake Xours "trap '' TERM; $xvfb \"\$@\" & while :; do sleep 1; done"
	stopped KILL 137 "$bench"
	until_gone
}

# while it waits for a server
test_xstart_is_interrupted() {
	with_x
	fake Xours 'sleep 60'
	"$bench" -q -t 60 -o rec -s Xours line10 null_syscall >out 2>err &
	p=$!
	sleep 0.5
	kill -TERM $p
	got=0
	wait $p || got=$?
	test $got = 143
	has rec '^end	0'
	gone
}

# where there is one, be it one that refuses or is silent, none is started
test_xstart_is_not_needed() {
	with_xvfb
	fake Xours "exec $xvfb \"\$@\""
	xvfb -screen 0 640x480x24
	status 0 "$bench" -q -t 0.1 -o rec -s Xours line10
	has rec '^fact	x_server	external' '^fact	x_size	640x480'
	kill -STOP $xvfb
	status 1 "$bench" -q -t 0.1 -s Xours line10
	kill -9 $xvfb
	rm -f /tmp/.X11-unix/X$number /tmp/.X$number-lock
	test ! -e ran
	# that one is no more; but who names it with -d wants no other
	status 0 "$bench" -q -t 0.1 -o rec2 -d "$DISPLAY" line10
	has rec2 '^fact	x_server	built-in'
	status 0 "$bench" -q -t 0.1 -o rec3 -s Xours line10
	has rec3 '^fact	x_server	started'
	gone
}

test_xstart_shows_progress() {
	with_xvfb
	script -qec "'$bench' -t 0.5 line10 2>&1 >out" /dev/null >tty
	has tty 'starting an X server' 'line10'
}
