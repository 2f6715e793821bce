# announce.py <interface> <address>: tells all hosts of the network that this interface has the address now (gratuitous ARP).
import socket
import sys

interface, address = sys.argv[1:3]
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:
    link.bind((interface, 0x0806))
    hardware = link.getsockname()[4]
    ip = socket.inet_aton(address)
    everybody = b"\xff" * 6
    for operation in (b"\x00\x01", b"\x00\x02"):
        link.send(everybody + hardware + b"\x08\x06\x00\x01\x08\x00\x06\x04" + operation + hardware + ip + everybody + ip)
