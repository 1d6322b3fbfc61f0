import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ProcessId } from './process-table.ts';

/** A process to stop when we are gone, and the signal it stops on. */
export interface Watched extends ProcessId {
  stopSignal: NodeJS.Signals;
}

/** A line to the reaper. */
export interface Order {
  watch?: Watched;
  forget?: number;
  folder?: string;
  keep?: string;
}

const startReaper = (): ((order: Order) => void) => {
  const file = fileURLToPath(new URL('./reaper.ts', import.meta.url));
  const reaper = spawn(process.execPath, [file], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Neither the process nor the pipe may keep us alive, and its loss must not end us.
  reaper.unref();
  reaper.on('error', () => {});
  reaper.stdin.on('error', () => {});
  (reaper.stdin as unknown as { unref(): void }).unref();
  return (order) => reaper.stdin.write(`${JSON.stringify(order)}\n`);
};

let tell: ((order: Order) => void) | undefined;

/** Gives the reaper an order; the first one starts it. One reaper serves the whole process. */
export const watch = (order: Order): void => {
  tell ??= startReaper();
  tell(order);
};
