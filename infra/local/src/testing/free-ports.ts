import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { isFree } from '../ports.ts';

/**
 * Below the ports of outgoing connections (32768 and above on Linux), which could take a port before it is used, and below
 * the ports of the platforms that tests start (`freePortBase`).
 */
const FREE_PORTS = { from: 8_200, to: 12_000 };

/** Ports of six services and one that a test adds, of their probes, and of their second instances. */
const SERVICE_PORTS = [0, 10, 40, 50].flatMap((first) => [1, 2, 3, 4, 5, 6, 7].map((port) => first + port));
/** Ports of one platform: its services, PostgreSQL, Redis, the gateway and stand-ins. */
const PLATFORM_PORTS = [...SERVICE_PORTS, 32, 79, 90, 95, 99];

/** Listens on the port until this process ends; false if it is taken. */
const reserve = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().unref();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(true));
  });

const BLOCK_SIZE = 50;

/** Listens on the first port of a block until this process ends, so that no other process uses the block. */
const reserveBlock = async (): Promise<number> => {
  for (;;) {
    const first = FREE_PORTS.from + BLOCK_SIZE * randomInt((FREE_PORTS.to - FREE_PORTS.from) / BLOCK_SIZE);
    if (await reserve(first)) return first;
  }
};

let block: Promise<number> | undefined;
let portsReturned = 0;

/**
 * Returns a free TCP port on 127.0.0.1. The next 48 calls in this process return other ports, and so do calls in other
 * processes.
 */
export const freePort = async (): Promise<number> => {
  const first = await (block ??= reserveBlock());
  for (;;) {
    const port = first + 1 + (portsReturned++ % (BLOCK_SIZE - 1));
    if (await isFree(port)) return port;
  }
};

/**
 * Returns PORT_BASE for a platform that a test starts. It has a hundred ports, and a hundred more for each cell. All are
 * below the ports of outgoing connections. This process listens on the first port of each hundred until it ends, so that
 * no other test gets the same ports.
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
