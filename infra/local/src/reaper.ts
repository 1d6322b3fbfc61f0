/**
 * A tiny process that outlives its parent by a moment: when the parent ends in whatever way (even kill -9),
 * the pipe to it closes, and the reaper stops the processes and removes the folders it was told of.
 * The parent talks to it through watch.ts, one JSON object a line.
 */
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { stop } from './process-table.ts';
import type { Order, Watched } from './watch.ts';

const LIMIT_MS = 5_000;
const processes = new Map<number, Watched>();
const folders = new Set<string>();

const obey = (order: Order): void => {
  if (order.watch) processes.set(order.watch.pid, order.watch);
  if (order.forget) processes.delete(order.forget);
  if (order.folder) folders.add(order.folder);
  if (order.keep) folders.delete(order.keep);
};

// Only the closing pipe ends it: a Ctrl-C is for the parent to deal with.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});

createInterface({ input: process.stdin })
  .on('line', (line) => obey(JSON.parse(line) as Order))
  .on('close', async () => {
    await Promise.all([...processes.values()].map((one) => stop(one, one.stopSignal, LIMIT_MS)));
    await Promise.all([...folders].map((path) => rm(path, { recursive: true, force: true })));
  });
