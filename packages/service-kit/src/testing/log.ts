import { Writable } from 'node:stream';
import { createLog, type Log } from '../process/log.ts';

/** Creates a log whose lines a test can read. */
export const captureLog = (level = 'info'): { log: Log; lines: string[] } => {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: createLog('test', level, stream), lines };
};
