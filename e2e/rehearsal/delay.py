# delay.py <interface> <interface> <milliseconds>: a line between two TAP interfaces that delays each frame by that time,
# as netem does in kernels that have it.
import fcntl
import os
import select
import struct
import sys
import time
from collections import deque

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
MOST_WAITING = 20_000


def open_tap(name):
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return tap


# Busy hosts must not lengthen the line.
os.setpriority(os.PRIO_PROCESS, 0, 0)
first, second = (open_tap(name) for name in sys.argv[1:3])
delay = float(sys.argv[3]) / 1000
other = {first: second, second: first}
waiting = deque()
poll = select.poll()
for tap in other:
    poll.register(tap, select.POLLIN)

while True:
    pause = max(0, (waiting[0][0] - time.monotonic()) * 1000) if waiting else None
    for tap, _ in poll.poll(pause):
        try:
            while True:
                frame = os.read(tap, 65_536)
                if len(waiting) < MOST_WAITING:
                    waiting.append((time.monotonic() + delay, other[tap], frame))
        except OSError:
            pass
    now = time.monotonic()
    while waiting and waiting[0][0] <= now:
        _, tap, frame = waiting.popleft()
        try:
            os.write(tap, frame)
        except OSError:
            pass
