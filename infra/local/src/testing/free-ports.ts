import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { isFree } from '../ports.ts';

/**
 * Lower than the ports of outgoing connections (32768 and above on Linux), which could take a port before it is used, and
 * lower than those of the platforms that tests start.
 */
const FREE_PORTS = { from: 8_200, to: 12_000 };

/** Services and one that a test adds, their probes, and the same of second instances. */
const SERVICE_PORTS = [0, 10, 40, 50].flatMap((first) => [1, 2, 3, 4, 5, 6, 7].map((at) => first + at));
/** Ports of one platform: those of its services, of PostgreSQL, Redis, gateway and a stand-in. */
const PLATFORM_PORTS = [...SERVICE_PORTS, 32, 79, 90, 95, 99];

/** Listens on the port for as long as this process runs; false when it is taken. */
const reserve = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().unref();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(true));
  });

const BLOCK = 50;

/** Listens on the first port of a block until this process ends, so that no other process uses the block. */
const reserveBlock = async (): Promise<number> => {
  for (;;) {
    const first = FREE_PORTS.from + BLOCK * randomInt((FREE_PORTS.to - FREE_PORTS.from) / BLOCK);
    if (await reserve(first)) return first;
  }
};

let block: Promise<number> | undefined;
let given = 0;

/**
 * A TCP port on 127.0.0.1 that was free a moment ago. The next 48 calls in this process get other ports, and so does
 * every other process.
 */
export const freePort = async (): Promise<number> => {
  const first = await (block ??= reserveBlock());
  for (;;) {
    const port = first + 1 + (given++ % (BLOCK - 1));
    if (await isFree(port)) return port;
  }
};

/**
 * PORT_BASE of a platform that a test starts: a hundred ports below those of outgoing connections, and a hundred for each
 * cell of a service. The first ones stay taken until this process ends, so that no other test gets the same ports while
 * the platform starts.
 */
export const freePortBase = async (cells = 0): Promise<number> => {
  const hundreds = Array.from({ length: 1 + cells }, (_, index) => 100 * index);
  for (;;) {
    const base = 12_000 + 100 * randomInt(200 - cells);
    const reserved = await Promise.all(hundreds.map((first) => reserve(base + first)));
    if (!reserved.every(Boolean)) continue;
    const offsets = hundreds.flatMap((first) => PLATFORM_PORTS.map((offset) => first + offset));
    const free = await Promise.all(offsets.map((offset) => isFree(base + offset)));
    if (free.every(Boolean)) return base;
  }
};
