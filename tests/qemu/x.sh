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
	initrd "$PWD/more"
	linux 240 'bench.t=15 bench.only=x bench.save=- bench.then=poweroff \
	    bench.s="Xvfb -screen 0 800x600x24"' -m 512
	record rec
	whole rec x
	has rec '^fact	x_server	started' '^fact	x_size	800x600'
	measured rec line100 fill100 blt100 itext arc100 cmplx x_line x_fill x_blt \
	    x_text x_arc x_cmplx xstones
}

test_without_x() {
	initrd
	linux 120 'bench.t=5 bench.only=x bench.save=- bench.then=poweroff'
	record rec
	whole rec x
	has rec '^fact	x_server	built-in'
	measured rec line100 fill100 blt100 itext arc100 cmplx xstones
}
