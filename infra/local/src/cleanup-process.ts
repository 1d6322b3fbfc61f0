/**
 * A small process that outlives its parent. When the parent ends for any reason, even by kill -9, the pipe between them
 * closes; then this process stops the programs of the parent and removes its temporary folders. See cleanup.ts.
 */
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { CleanupOrder, StoppableProcess } from './cleanup.ts';
import { killAllIn, stop } from './process.ts';

const STOP_LIMIT_MS = 5_000;
const processes = new Map<number, StoppableProcess>();
const paths = new Set<string>();

const receive = (order: CleanupOrder): void => {
  if (order.process) processes.set(order.process.pid, order.process);
  if (order.endedPid) processes.delete(order.endedPid);
  if (order.path) paths.add(order.path);
  if (order.removedPath) paths.delete(order.removedPath);
};

// Ignores signals and ends only when the pipe closes: the parent handles Ctrl-C.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});

createInterface({ input: process.stdin })
  .on('line', (line) => receive(JSON.parse(line) as CleanupOrder))
  .on('close', async () => {
    await Promise.all([...processes.values()].map((child) => stop(child, child.stopSignal, STOP_LIMIT_MS)));
    for (const path of paths) {
      // Suspended child processes of PostgreSQL (SIGSTOP) outlive their parent.
      await killAllIn(path);
      await rm(path, { recursive: true, force: true });
    }
  });
