# X: real servers, and the built-in one on a display (tests/xserver.c) with
# whatever can be wrong with a server

# built NAME FLAG...: tests/NAME.c as ../NAME, once, with the libxcb of bench
built() {
	prog=$1
	shift
	test -x "../$prog" || $CC -std=c11 -D_GNU_SOURCE -DWITH_X=1 -O1 \
	    -isystem "${XCB_INCLUDE:-$xcb/include}" -static -o "../$prog" \
	    "$@" "${XCB_LIB:-$xcb/libxcb.a}"
}

# listed: the processes of this test, which end with it
listed() {
	running="$* ${running-}"
	trap 'kill $running ${xvfb-} 2>/dev/null || :; wait || :' EXIT
}

# server OPTION...: the built-in server on a free display; sets DISPLAY.  Its
# first client (-c) is the look that bench takes at what is there.
server() {
	built "${xserver:=xserver}" ${depth:+-DXDEPTH=$depth} \
	    "$top/tests/xserver.c"
	rm -f served
	mkfifo served
	"../$xserver" -displayfd 3 "$@" 3>served &
	server=$!
	listed $server
	read -r number <served
	DISPLAY=:$number
	export DISPLAY
}

# real SERVER ARG...: it on a free display; sets DISPLAY
real() {
	command -v "$1" || skip "no $1"
	rm -f display
	mkfifo display
	"$@" -displayfd 3 -noreset -nolisten tcp 3>display >server.log 2>&1 &
	real=$!
	listed $real
	read -r number <display ||
	    skip "$1: $(grep -v '^(EE) *$' server.log | tail -n 1)"
	DISPLAY=:$number
	export DISPLAY
}

# cover HOW: a client that covers others (tests/cover.c), until it is killed
cover() {
	built cover "$top/tests/cover.c"
	rm -f covers
	mkfifo covers
	../cover "$1" >covers &
	cover=$!
	listed $cover
	read -r _ <covers
}

# keys: those of the stones that are measured, in order
keys() {
	"$bench" -l | awk '$2 ~ /^x_/ && $2 != "x_more" { print $1 }'
}

# whole FILE: each figure of X is above 0, and none is without
whole() {
	lacks "$1" '^none' '	0	' '	-'
	keys | while read -r k; do
		has "$1" "^result	$k	1/s	[1-9]"
	done
	for k in x_line x_fill x_blt x_text x_arc x_cmplx xstones; do
		has "$1" "^result	$k	stones	[1-9]"
	done
}

# cut_at FILE KEY REASON: rows before KEY stand, it and later ones have a reason
cut_at() {
	keys | awk -v k="$2" '$0 == k { late = 1 }
	    { print late ? "none" : "result", $0 }' >want
	awk -F '\t' '($1 == "none" || $1 == "result") && $2 !~ /^x|_null$/ {
	    print $1, $2 }' "$1" | diff want -
	has "$1" "^none	$2	$3"
}

# state: what is to be left as it was found
state() {
	xset q
	xprop -root
	xwininfo -root -children | grep ' children'
}

# every_row: each of X on $DISPLAY has a figure, and all is left as found
every_row() {
	state >before
	status 0 "$bench" -q -t 0.1 -o rec x
	whole rec
	for k in $("$bench" -l | awk '$2 == "x_more" { print $1 }'); do
		has rec "^result	$k	1/s	[1-9]"
	done
	state | diff before -
}

# on_xvfb SCREEN [ARG...]
on_xvfb() {
	xvfb -screen 0 "$@"
	status 0 "$bench" -q -t 0.1 -o rec xstones
	whole rec
	has rec '^fact	x_comm	unix' '^fact	x_server	external'
	has out '|unix|'
}

test_x_24_bits() {
	with_x
	on_xvfb 1024x768x24
	has rec '^fact	x_depth	24' '^fact	x_size	1024x768' \
	    '^fact	stones	1' '^fact	x_vendor	.'
	status 0 "$bench" -c rec
	has out '|24|unix|'
	# the window is not left, nor anything else
	xwininfo -root -children >left || skip "no xwininfo"
	has left ' 0 children'
}

# PseudoColor, StaticGray and TrueColor
test_x_8_bits() {
	with_x
	on_xvfb 1024x768x8 -noreset
	has rec '^fact	x_depth	8'
	for class in 0 4; do
		kill $xvfb
		rm display rec
		xvfb -screen 0 640x480x8 -noreset -cc $class
		status 0 "$bench" -q -t 0.1 -o rec line10 tile100 stip100 \
		    itext farc100 cmplx xput xget
		lacks rec '^none'
	done
}

test_x_other_depths() {
	with_x
	for depth in 15 16 30; do
		mkdir $depth
		cd $depth
		on_xvfb 640x480x$depth -noreset
		has rec "^fact	x_depth	$depth"
		kill $xvfb
		cd ..
	done
}

# a depth that no real server here offers: pixels of one bit, of four
test_x_odd_depths() {
	with_x
	for depth in 1 4; do
		xserver=xserver$depth
		server
		rm -f rec
		status 0 "$bench" -q -t 0.1 -o rec xstones xput xget
		whole rec
		has rec "^fact	x_depth	$depth" '^result	xput	' \
		    '^result	xget	'
		kill $server
	done
}

test_x_xephyr() {
	with_x
	xvfb -screen 0 800x600x24 -noreset
	real Xephyr -screen 640x480x16
	every_row
	has rec '^fact	x_depth	16' '^fact	x_size	640x480'
}

test_x_vnc() {
	with_x
	real Xvnc -SecurityTypes None -rfbport -1 -geometry 640x480 -depth 32
	every_row
	has rec '^fact	x_depth	32'
}

test_x_xorg() {
	with_x
	test -f /usr/lib/xorg/modules/drivers/dummy_drv.so ||
	    skip "no dummy driver of Xorg"
	for depth in 8 15 16 30 24; do
		real Xorg -config "$top/tests/xorg.conf" -depth $depth \
		    -logfile "$PWD/xorg.log" -novtswitch -sharevts
		rm -f rec
		status 0 "$bench" -q -t 0.1 -o rec line100 stip100 bit100 \
		    itext farc100 cmplx xput xshm xget
		has rec "^fact	x_depth	$depth"
		lacks rec '^none'
		test $depth = 24 || kill $real
	done
	every_row
}

# a window manager, which is not asked
test_x_twm() {
	with_x
	command -v twm || skip "no twm"
	xvfb -screen 0 640x480x24 -noreset
	for f in Title Resize Menu Icon IconManager; do
		echo "${f}Font \"fixed\""
	done >twmrc
	twm -f twmrc &
	listed $!
	until xwininfo -root -children | grep -v ' 0 children' |
	    grep ' child'; do
		kill -0 $!
		sleep 0.1
	done
	every_row
	lacks rec '^note'
}

# a window that is covered as it appears is raised
test_x_covered() {
	with_x
	server -f covered -r requests
	status 0 "$bench" -q -t 0.1 -o rec line10
	lacks rec '^note'
	has rec '^result	line10	'
	kill $server
	wait $server
	# as often as its window is mapped
	test "$(sed -n 's/^12 //p' requests)" = \
	    "$(sed -n 's/^8 //p' requests)"
}

# one that others lie on, or come to lie on, is told, and waited for but once
test_x_hidden() {
	with_x
	xvfb -screen 0 640x480x24 -noreset
	cover 0
	status 0 "$bench" -q -t 0.1 -o below line10
	lacks below '^note'
	kill $cover
	cover 1000
	status 0 "$bench" -q -t 0.1 -o later line10 cmplx
	has later '^result	line10	' '^note	cmplx	window .*cover'
	kill $cover
	cover overlay
	status 0 "$bench" -q -t 0.1 -o hidden line10 fill10
	has hidden \
	    '^note	line10	window not in view, whole, after 2 s (hidden?)' \
	    '^note	fill10	window not in view, whole, after 0.1 s (hid'
}

# what a window in a window covered is not told of: that would wake the client
test_x_no_events() {
	with_x
	command -v strace || skip "no strace"
	xvfb -screen 0 640x480x24 -noreset
	status 0 strace -f -e trace=recvfrom -o calls \
	    "$bench" -q -t 0.1 -o rec cmplx
	# type 12, an Expose: at most one a round, when its window is mapped
	n=$(grep -c '"\\f' calls) || :
	holds "$n <= 20"
}

# what does not fit is told, and the rest is there
test_x_small_screen() {
	with_x
	xvfb -screen 0 320x240x16
	status 0 "$bench" -q -v -t 0.1 -o rec xstones
	has rec '^result	line100	' '^result	cmplx	' \
	    '^none	line400	400 x 400 pixels do not fit .* 320 x 240' \
	    '^none	itext	.* do not fit' '^note	x_line	mean of 8 of 12'
	has out 'line400 .* do not fit'
}

test_x_two_screens() {
	with_x
	xvfb -screen 0 640x480x8 -screen 1 800x600x24
	status 0 "$bench" -q -t 0.1 -o rec -d "$DISPLAY.1" line10 fill10
	has rec '^fact	x_size	800x600' '^fact	x_depth	24'
	status 1 "$bench" -q -t 0.1 -d "$DISPLAY.2" line10
	has out 'no such screen'
}

test_x_by_tcp() {
	with_x
	server -t
	status 0 "$bench" -q -t 0.1 -o rec -d "127.0.0.1$DISPLAY" line10
	has rec '^fact	x_comm	tcp' '^result	line10'
	status 0 "$bench" -q -t 0.1 -o rec2 -d "localhost$DISPLAY" line10
	has rec2 '^fact	x_comm	tcp'
}

# the server says who it is; one that may be elsewhere is not believed
test_x_cpu_by_tcp() {
	with_x
	xvfb -screen 0 640x480x24 -noreset -listen tcp
	status 0 "$bench" -q -t 0.5 -o rec -d "127.0.0.1$DISPLAY" x_fill
	set -- $(sed -n 's/^fact	x_cpu_fill	//p' rec)
	test $# = 9
	holds "$3 > 10 && $1 + $2 + $3 + $4 + $5 > 99"
	status 0 "$bench" -q -t 0.2 -o rec2 -d "127.0.0.2$DISPLAY" x_fill
	has rec2 '^fact	x_cpu_fill	[0-9.]* [0-9.]* - - - [0-9]'
	has out '^fill  *[0-9]*  *[0-9]*      -     -      -  *[0-9]*  '
}

test_x_by_abstract_name() {
	with_x
	server -a
	status 0 "$bench" -q -t 0.1 -o rec line10
	has rec '^fact	x_comm	unix' '^fact	x_server	external'
}

test_x_none_there() {
	with_x
	status 0 "$bench" -q -s '' -t 0.1 -o rec xstones
	whole rec
	has rec '^fact	x_comm	null' '^fact	x_server	built-in'
	has out '|null|' '^X: no DISPLAY is set .* of the built-in'
	cp out live
	status 0 "$bench" -c rec
	diff live out
	status 0 "$bench" -q -t 0.1 -d :399 x_line
	has out '^X: no X server at :399 (Connection refused)'
	# and is no server to compare with
	server
	status 0 "$bench" -q -t 0.1 -o real xstones
	status 0 "$bench" -c real rec
	has out '^Not compared, drawn by the built-in X server on one side: x_'
	lacks out '^Better' '^Worse'
}

test_x_killed() {
	with_x
	xvfb -screen 0 640x480x24
	"$bench" -q -t 60 -o rec xstones >out &
	p=$!
	sleep 1.$(($$ % 10))
	kill -9 $xvfb
	got=0
	wait $p || got=$?
	rm -f /tmp/.X11-unix/X$number /tmp/.X$number-lock
	test $got = 1
	cut_at rec "$(awk -F '\t' '$1 == "none" { print $2; exit }' rec)" \
	    '.*\(closed the connection\|is gone\)'
	has rec '^result	line10	'
	has out '-'
	lacks rec 'built-in'
}

# a real server that closes the connection, as it was told to by another client
test_x_cut_off() {
	with_x
	command -v xkill || skip "no xkill"
	xvfb -screen 0 640x480x24 -noreset
	"$bench" -q -t 60 -o rec xstones >out &
	p=$!
	sleep 0.$(($$ % 6))
	while kill -0 $p; do
		id=$(xwininfo -root -children | grep -o -m 1 '0x.* 600x480') || :
		xkill -id "${id%% *}" || :
	done
	got=0
	wait $p || got=$?
	test $got = 1
	cut_at rec "$(awk -F '\t' '$1 == "none" { print $2; exit }' rec)" \
	    'X server closed the connection'
}

test_x_closes_at_a_request() {
	with_x
	server -f close:40 -c 4
	status 1 "$bench" -q -t 0.1 -o rec xstones
	cut_at rec line400 'X server closed the connection (did it die?)'
}

# gone between two rows
test_x_gone() {
	with_x
	server -f close:0 -c 4
	status 1 "$bench" -q -t 0.1 -o rec xstones
	cut_at rec line400 '\(it closed the connection\|it is gone\)'
}

test_x_stalls() {
	with_x
	server -f stall:40 -c 3
	status 1 "$bench" -q -t 0.1 -o rec xstones
	cut_at rec line100 'timed out after 5 s'
	has rec '^none	line400	it is gone (did it die?): Connection refused'
}

test_x_stopped() {
	with_x
	xvfb -screen 0 640x480x24
	"$bench" -q -t 60 -o rec xstones >out &
	p=$!
	sleep 1
	kill -STOP $xvfb
	got=0
	wait $p || got=$?
	kill -9 $xvfb
	rm -f /tmp/.X11-unix/X$number /tmp/.X$number-lock
	test $got = 1
	cut_at rec "$(awk -F '\t' '$1 == "none" { print $2; exit }' rec)" \
	    'timed out after 5 s'
	has rec "^none	cmplx	timed out after 5 s (connecting to X server"
}

test_x_stalls_in_setup() {
	with_x
	server -f stall
	status 1 "$bench" -q -t 0.1 -o rec xstones
	cut_at rec line10 'timed out after 5 s (connecting to X server :'
}

test_x_refuses() {
	with_x
	server -f refuse
	status 1 "$bench" -q -t 0.1 -o rec xstones
	cut_at rec line10 'refused: no entry (see xauth, xhost)'
	has out '^X: refused: no entry'
	kill $server
	server -f auth
	status 1 "$bench" -q -t 0.1 -o rec2 xstones
	cut_at rec2 line10 'refused: .*(see xauth, xhost)'
}

test_x_cookie() {
	with_x
	command -v xauth || skip "no xauth"
	mkdir home
	HOME=$PWD/home
	export HOME
	xauth -f cookies add :0 . 0123456789abcdef0123456789abcdef
	xvfb -auth "$PWD/cookies" -screen 0 640x480x24
	status 1 "$bench" -q -t 0.1 line10
	status 1 "$bench" -q -t 0.1 x_line
	has out '^X: refused: .*(see'
	xauth -f mine add "$DISPLAY" . 0123456789abcdef0123456789abcdef
	status 0 env XAUTHORITY=mine "$bench" -q -t 0.1 -o rec line10
	has rec '^result	line10'
	cp mine home/.Xauthority
	status 0 "$bench" -q -t 0.1 line10
}

test_x_error() {
	with_x
	server -f error:20 -c 4
	status 1 "$bench" -q -t 0.1 -o rec xstones
	has rec '^result	line100' \
	    '^none	line400	X error BadAlloc (11), request [A-Z]'
}

test_x_absurd_setup() {
	with_x
	for f in truncate noscreen lengths garbage garbage:20; do
		server -f $f
		status 1 "$bench" -q -t 0.1 -o $f.rec xstones
		has $f.rec '^none	line10	' '^none	cmplx	'
		lacks $f.rec 'killed' '^result	x'
		kill $server
	done
	# there is nothing that needs a format
	server -f noformat
	status 0 "$bench" -q -t 0.1 -o rec xstones
	whole rec
	has noscreen.rec '^none	line10	it has no such screen'
	has lengths.rec '^none	line10	what it says of itself is cut short'
}

test_x_lacks() {
	with_x
	server -n BIG-REQUESTS
	status 0 "$bench" -q -t 0.1 -o rec xstones
	whole rec
	kill $server
	server -F none
	status 0 "$bench" -q -t 0.1 -o rec2 xstones
	has rec2 '^none	itext	the X server has no font at all' \
	    '^none	cmplx	' '^result	arc10	' '^note	xstones	mean of 4'
	kill $server
	server -F 8x13
	status 0 "$bench" -q -t 0.1 -o rec3 x_text
	has rec3 '^result	itext	' \
	    '^note	ptext	font 8x13, as there is none named fixed'
}

test_x_real_fonts() {
	with_x
	fonts=/usr/share/fonts/X11/misc
	test -f $fonts/6x12.pcf.gz || skip "no xfonts-base"
	xvfb -screen 0 640x480x24 -noreset
	mkdir some none
	cp $fonts/6x12.pcf.gz some
	(echo 1; grep ^6x12.pcf $fonts/fonts.dir) >some/fonts.dir
	echo 0 >none/fonts.dir
	xset fp= "$PWD/some"
	status 0 "$bench" -q -t 0.1 -o rec itext cmplx
	has rec '^result	itext	' \
	    '^note	cmplx	font \*-fixed-\*, as there is none named fixed'
	xset fp= "$PWD/none"
	status 0 "$bench" -q -t 0.1 -o rec2 itext arc10
	has rec2 '^none	itext	the X server has no font at all' \
	    '^result	arc10	'
}

test_x_outside_the_stones() {
	with_x
	xvfb -screen 0 640x480x24 -noreset
	status 0 "$bench" -q -v -t 0.1 -o rec x_more
	for k in xsync xnoop xput xshm xget xpixmap xwinmap xprop rfill rover \
	    raa; do
		has rec "^result	$k	1/s	[1-9]"
	done
	has out '^X, outside the stones'
	# in a run of x, and not in one of the usual tables
	status 0 "$bench" -q -t 0.1 -o all x
	has all '^result	xput' '^result	xstones'
	status 0 "$bench" -q -t 0.1 -o usual 'x_*' xstones
	has usual '^result	xput'
	server
	status 0 "$bench" -q -t 0.1 -o null x_more
	has null '^none	xshm	the X server lacks MIT-SHM' \
	    '^none	raa	the X server lacks RENDER' '^result	xput	1/s	[1-9]'
}

# what the same requests take where nothing is drawn
test_x_null_rates() {
	with_x
	xvfb -screen 0 640x480x24 -noreset
	status 0 "$bench" -q -v -t 0.5 -o rec line10 fill400 xget
	for k in line10 fill400 xget; do
		has out "^${k}_null  *[1-9]"
	done
	holds "$(value rec fill400_null) > 2 * $(value rec fill400)"
	lacks rec '^result	raa_null'
}

# requests that do nothing are sent, all of them
noops_arrive() {
	rm -f rec
	server -r requests
	status 0 "$bench" -q -v -t 0.2 -o rec xnoop
	kill $server
	wait $server
	sent=$(awk '$1 == 127 { print $2 }' requests)
	samples=$(awk '$1 == "xnoop" { print $(NF - 1) }' out)
	# a batch lasts a millisecond, or nearly
	holds "$sent > $(value rec xnoop) * $samples * 0.0005"
}

test_x_noops_arrive() {
	with_x
	tries noops_arrive
}

# spent OPTION...: sets the server's user and system time, in percent
spent() {
	rm -f rec
	server "$@"
	status 0 "$bench" -q -v -t 1 -o rec x_fill
	has out '^X CPU %' '^fill .*[0-9]'
	set -- $(sed -n 's/^fact	x_cpu_fill	//p' rec)
	kill $server
	test $# = 9
	holds "$1 + $2 + $3 + $4 + $5 > 99 && $1 + $2 + $3 + $4 + $5 < 101"
	holds "$6 + $7 + $8 > 98 && $6 + $7 + $8 < 101"
	user=$3 system=$4 busy="($1 + $2 + $3 + $4)"
}

test_x_who_spends_the_time() {
	with_x
	spent -u 300
	holds "$user > $busy / 2 && $user > 4 * $system"
	spent -s 300
	holds "$system > $busy / 2 && $system > 4 * $user"
	# of one that does not say who it is nothing is known; ours is none
	server -t
	status 0 "$bench" -q -t 0.1 -o tcp -d "127.0.0.1$DISPLAY" x_fill
	has tcp '^fact	x_cpu_fill	[0-9.]* [0-9.]* - - - '
	status 0 "$bench" -q -t 0.1 -o null -d :399 x_fill
	lacks null x_cpu
}

# the screen saver, the pointer and its shape in the framebuffer: as they were
test_x_left_as_found() {
	with_x
	command -v xset && command -v xprop && command -v xsetroot ||
	    skip "no xset, xprop or xsetroot"
	xvfb -screen 0 640x480x24 -noreset -fbdir "$PWD"
	cp Xvfb_screen0 bare
	xset s 77 88
	xsetroot -cursor_name gumby
	state >before
	cp Xvfb_screen0 pixels
	if cmp bare pixels; then return 1; fi
	status 0 "$bench" -q -t 0.1 fill10 cmplx
	tries cmp Xvfb_screen0 pixels
	state | diff before -
	got=0
	timeout -s KILL 1 "$bench" -q -t 20 fill10 cmplx || got=$?
	test $got = 137
	tries cmp Xvfb_screen0 pixels
	state | diff before -
}

# a screen that is off is lit, once; nothing is asked for that would last
test_x_power() {
	with_x
	server -p -r requests
	status 0 "$bench" -q -t 0.1 fill10 line10
	kill $server
	wait $server
	has requests '^206 1$' '^207 '
	lacks requests '^20[0-5]' '^208'
}
