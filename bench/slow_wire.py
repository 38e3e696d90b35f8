"""A slow and lossy wire between two network devices, for tests on kernels that have no netem. Needs root.

    ip netns exec BETWEEN python3 slow_wire.py left right --delay-ms 1 --loss 0.005

What arrives at one device leaves by the other, later or not at all, in its order. SIGUSR1 cuts the wire: nothing passes any more.
"""

import argparse
import collections
import contextlib
import random
import select
import signal
import socket
import time

ALL_PROTOCOLS = 3
OUTGOING = 4  # the kind of a frame that this process has sent itself
PACKET_LEVEL, PACKET_VNET_HDR = 263, 15  # what the sender left to its card (checksums, segments) travels with the frame
LONGEST = 1 << 17


def end_at(device: str) -> socket.socket:
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    end.setsockopt(PACKET_LEVEL, PACKET_VNET_HDR, 1)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    end.bind((device, ALL_PROTOCOLS))
    end.setblocking(False)
    return end


class Wire:
    def __init__(self, devices: list[str], delay: float, loss: float, seed: int) -> None:
        self.ends = [end_at(device) for device in devices]
        self.delay, self.loss, self.chance = delay, loss, random.Random(seed)
        self.is_cut = False
        self.under_way: collections.deque[tuple[float, socket.socket, bytes]] = collections.deque()

    def cut(self, *_: object) -> None:
        self.is_cut = True

    def take(self, end: socket.socket) -> None:
        other = self.ends[1 - self.ends.index(end)]
        with contextlib.suppress(BlockingIOError):  # that was all
            while True:
                frame, sender = end.recvfrom(LONGEST)
                if sender[2] != OUTGOING and not self.is_cut and self.chance.random() >= self.loss:
                    self.under_way.append((time.monotonic() + self.delay, other, frame))

    def carry(self) -> None:
        while True:
            wait = max(0.0, self.under_way[0][0] - time.monotonic()) if self.under_way else None
            for end in select.select(self.ends, [], [], wait)[0]:
                self.take(end)
            while self.under_way and self.under_way[0][0] <= time.monotonic():
                _, end, frame = self.under_way.popleft()
                with contextlib.suppress(OSError):  # no room: it is lost, as on any wire
                    if not self.is_cut:
                        end.send(frame)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("devices", nargs=2)
    parser.add_argument("--delay-ms", type=float, default=1)
    parser.add_argument("--loss", type=float, default=0, help="of all frames, 0 to 1")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wire = Wire(options.devices, options.delay_ms / 1e3, options.loss, options.seed)
    signal.signal(signal.SIGUSR1, wire.cut)
    print("ready", flush=True)
    wire.carry()


if __name__ == "__main__":
    main()
