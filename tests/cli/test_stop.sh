#!/usr/bin/env bash
# A run that is stopped by Ctrl-C: exit status 130, a readable results file, a word about it; and the progress bar, which
# a terminal sees and a pipe does not.
source "$(dirname "$0")/support.sh" "$@"

python3 - "$linkwork" "$work" <<'PYTHON' || fail "see above"
import os, pty, select, signal, subprocess, sys, time
linkwork, work = sys.argv[1:]

def stopped_run(signal_number, csv, on_terminal, *more):
    """Starts an endless run, sends the signal once there are results (and a bar); returns status, stdout, stderr."""
    reader, writer = pty.openpty() if on_terminal else os.pipe()
    command = [linkwork, "run", work + "/pendulum.yaml", "--end", "1e7", "--output", "0.01", "--out", csv, *more]
    default = lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGTERM)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writer, preexec_fn=default)
    os.close(writer)
    seen, sent, start = b"", False, time.monotonic()
    bar_expected = on_terminal and "--quiet" not in more
    while True:
        ready, _, _ = select.select([reader], [], [], 0.05)
        try:
            part = os.read(reader, 65536) if ready else None
        except OSError:  # a terminal whose other side is closed
            part = b""
        if part == b"":
            break
        seen += part or b""
        results = os.path.exists(csv) and os.path.getsize(csv) > 10000
        if not sent and results and (b"%" in seen or not bar_expected):
            process.send_signal(signal_number)
            sent = True
        assert time.monotonic() - start < 120, "the run does not stop: " + seen.decode()
    output = process.stdout.read()
    return process.wait(), output.decode(), seen.decode()

def readable(csv):
    rows = [l.rstrip("\n").split(",") for l in open(csv) if not l.startswith("#")]
    assert len(rows) > 10 and all(len(r) == len(rows[0]) for r in rows), "the results file has broken rows"
    times = [float(r[0]) for r in rows[1:]]
    assert all(b > a for a, b in zip(times, times[1:]))
    return times

for number in (signal.SIGINT, signal.SIGTERM):
    csv = work + "/stop%d.csv" % number
    status, output, errors = stopped_run(number, csv, False)
    assert status == 128 + number, (status, errors)
    assert output == "", output
    assert "stopped at t = " in errors and csv in errors, errors
    assert "\r" not in errors and "%" not in errors, "a progress bar without a terminal"
    times = readable(csv)
    assert "holds the %d samples" % len(times) in errors, (len(times), errors)

status, output, errors = stopped_run(signal.SIGINT, work + "/terminal.csv", True, "--json")
assert status == 130 and output == "", (status, output)
assert "\r[" in errors and "%  t = " in errors, "no progress bar on a terminal: " + errors
assert "stopped at t = " in errors, errors
readable(work + "/terminal.csv")

status, output, errors = stopped_run(signal.SIGINT, work + "/quiet.csv", True, "--quiet")
assert status == 130 and "%" not in errors, errors
PYTHON

echo passed
