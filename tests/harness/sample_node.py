"""A node of the test target: it knows nothing of Kafka, and answers anything with the correlation id.

    python sample_node.py LISTEN_HOST PORTS PEERS MODE

It connects to each peer (`host:port`, comma-separated) and keeps trying. Modes: `serve`; `die` says why and ends.
"""

import asyncio
import struct
import sys


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while request := await reader.read(4096):
        writer.write(struct.pack(">i", 4) + request[8:12])
    writer.close()


async def keep_connected(host: str, port: int) -> None:
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, port)
            await reader.read()
            writer.close()
        except OSError:
            await asyncio.sleep(0.01)


async def main(host: str, ports: str, peers: str, mode: str) -> None:
    if mode == "die":
        sys.exit("this node was configured to die")
    for port in ports.split(","):
        await asyncio.start_server(answer, host, int(port))
    dialled = [peer.rpartition(":") for peer in peers.split(",") if peer]
    await asyncio.gather(*(keep_connected(peer, int(port)) for peer, _, port in dialled), asyncio.Event().wait())


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
