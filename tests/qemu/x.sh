# The initrd with Xvfb in it, so that X rows are real; and without.
. "$top/tests/qemu/lib"

# with FILE...: files of this machine and the libraries they want, in more/
with() {
	for f; do
		{ echo "$f"; ldd "$f" 2>/dev/null | grep -o '/[^ ]*'; }
	done | sort -u | while read -r f; do
		mkdir -p "more$(dirname "$f")"
		cp -L "$f" "more$f"
	done
}

test_with_xvfb() {
	with /usr/bin/Xvfb /usr/bin/xkbcomp
	mkdir -p more/bin more/usr/share/X11 more/tmp
	cp -rL /usr/share/X11/xkb more/usr/share/X11/xkb
	cp /bin/busybox more/bin/busybox
	ln -s busybox more/bin/sh
	cat >more/xinit <<-'END'
	#!/bin/sh
	busybox() { /bin/busybox "$@"; }
	busybox mkdir -p /proc /sys /dev
	busybox mount -t proc proc /proc
	busybox mount -t devtmpfs dev /dev
	Xvfb :0 -nolisten tcp -screen 0 800x600x24 >/xvfb.log 2>&1 &
	n=0
	until test -S /tmp/.X11-unix/X0 || test $n = 60; do
		busybox sleep 1
		n=$((n + 1))
	done
	test $n = 60 && busybox cat /xvfb.log
	exec /bench -i bench.d=:0
	END
	chmod +x more/xinit
	initrd "$PWD/more"
	linux 240 'rdinit=/xinit PATH=/bin:/usr/bin bench.t=15 bench.only=x \
	    bench.save=- bench.then=poweroff' -m 512
	record rec
	whole rec x
	measured rec line100 fill100 blt100 itext arc100 cmplx x_line x_fill x_blt \
	    x_text x_arc x_cmplx xstones
}

test_without_x() {
	initrd
	linux 120 'bench.t=5 bench.only=x bench.save=- bench.then=poweroff'
	record rec
	whole rec x
	if grep -q '^fact	x_server	built-in' rec; then
		has rec '^result	xstones	'
	else
		has rec '^none	xstones	'
	fi
}
