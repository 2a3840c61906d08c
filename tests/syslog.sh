# init.c: the record as syslog messages, to Debian's own rsyslogd

# in_net COMMAND...: in a network of its own, whose loopback bench raises
in_net() {
	unshare -n true || skip "no namespaces here"
	unshare -n sh -ec '. ./receiver; "$@"' sh "$@"
}

# receiver PORT: in_net has an rsyslogd there, which keeps the record as
# README has it, and what it took for the header of each message
receiver() {
	test -x /usr/sbin/rsyslogd || skip "no rsyslogd"
	header='%pri% %protocol-version% %timestamp:::date-rfc3339%'
	header="$header %hostname% %app-name% %procid% %structured-data%"
	cat >conf <<-END
		global(workDirectory="$PWD" net.enableDNS="off")
		module(load="imudp")
		input(type="imudp" port="$1")
		template(name="bench" type="string"
		    string="%fromhost-ip%: %msg%\n")
		template(name="header" type="string"
		    string="$header %msgid%\n")
		if \$app-name == "bench" then
			action(type="omfile" file="$PWD/log" template="bench")
		action(type="omfile" file="$PWD/headers" template="header")
		template(name="raw" type="string" string="%rawmsg%\n")
		action(type="omfile" file="$PWD/raw" template="raw")
	END
	cat >receiver <<-END
		/usr/sbin/rsyslogd -n -f conf -i pid & syslog=\$!
		trap 'kill \$syslog; wait' EXIT
		n=0
		until grep -q ':$(printf %04X "$1") ' /proc/net/udp; do
			n=\$((n + 1)); test \$n -lt 50; sleep 0.1
		done
	END
}

# printed: the record that bench.save=- has put on the console
printed() {
	sed -n '/^----- BEGIN/,/^----- END/p' out | sed '1d;$d' >rec
	has rec '^end	[1-9]'
}

# sent WORD: to rsyslogd, and what it got is the record
sent() {
	status 0 in_net "$bench" -i bench.q bench.t=0.2 bench.save=- \
	    bench.only=proc,pipe_lat "bench.n=two words" "bench.log=$1"
	has out "^bench: $1: the record is sent"
	printed
	sed 's/#011/\t/g' log >got
	sed 's/^/127.0.0.1: /' rec | diff - got
	status 0 "$bench" -c got
	mv out tables
	status 0 "$bench" -c rec
	diff out tables
	has out 'two words'
}

test_record_to_rsyslogd() {
	receiver 514
	sent 127.0.0.1
	# as RFC 5424 has it: user.notice, the time, the key
	date=$(awk -F '\t' '$2 == "date" { print $3 }' rec)
	awk -F '\t' -v h="13 1 $date $(uname -n) bench - -" '{
		print h, $1 == "bench" || $1 == "end" ? $1 : $2
	}' rec | diff - headers
}

test_record_to_another_port() {
	receiver 5140
	sent 127.0.0.1:5140
}

# a clock that nobody has set is not told as the time
test_record_of_no_time() {
	name=$(symbol time)
	echo "long long __wrap_$name(void);
	    long long __wrap_$name(void) { return 1000; }" >then.c
	odd -Wl,--wrap="$name" "$PWD/then.c"
	receiver 514
	status 0 in_net ./odd -i bench.q bench.t=0.1 bench.only=steady \
	    bench.log=127.0.0.1
	has raw "^<13>1 - $(uname -n) bench - steady - result#011steady#011us"
	has log '#011date#0111970-01-01T00:16:40Z$'
}

# failing costs nothing, and the record is printed
unsent() {
	status 0 in_net "$bench" -i bench.q bench.t=0.1 bench.only=pipe_lat \
	    "bench.log=$1"
	has out "^bench: $1: not sent: $2" 'Communication latencies'
	printed
	status 0 "$bench" -c rec
}

test_record_to_nobody() {
	: >receiver
	unsent 127.0.0.1 'Connection refused'
	unsent 192.0.2.1 'Network unreachable (no address'
	for a in nowhere 127.0.0.1:0 127.0.0.1:65536 127.0.0.1:51x ::1 \
	    255.255.255.2555; do
		unsent $a 'no address'
	done
}
