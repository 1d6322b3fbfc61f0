import { on } from 'node:events';
import { finished, type Readable } from 'node:stream';
import type { Worker } from 'node:worker_threads';
import { requestAborted } from '@platform/service-kit/body';
import { Conflict, Problem } from '@platform/service-kit/problem';
import { startThread } from '@platform/service-kit/thread';
import type { Sql } from 'postgres';
import type { LineBatch } from './statement-line.ts';
import type { Message, Reading } from './reading-thread.ts';
import { insertLines } from './queries.ts';
import type { StatedFields } from './schema.ts';

/** The heap of a thread in MiB; five may run in a container of 512 MiB. */
const heapMiB = 32;

/** Starts the program of a thread. */
export const startReading = (reading: Reading): Worker =>
  startThread(new URL('reading-thread.ts', import.meta.url), heapMiB, { stdin: true, workerData: reading });

/**
 * Reads a statement in a thread of its own, because callbacks would wait for it; while a batch is stored, the next one is
 * read. Returns how many lines state each field. Throws the errors of the thread and of `store`,
 * Problem `too_many_lines`, and BadRequest `request_aborted` when the body ends too early.
 */
const readInThread = async (
  body: Readable,
  reading: Reading,
  store: (batch: LineBatch) => Promise<void>,
): Promise<StatedFields> => {
  const thread = startReading(reading);
  const broken = new AbortController();
  const stopWatching = finished(body, { writable: false }, (error) => {
    if (error) broken.abort(error);
  });
  body.pipe(thread.stdin as NonNullable<typeof thread.stdin>);
  try {
    const messages = on(thread, 'message', { signal: broken.signal, close: ['exit'] });
    for await (const [message] of messages as AsyncIterable<[Message]>) {
      if ('problem' in message) throw new Problem(message.problem);
      if ('stated' in message) return message.stated;
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows of a browser
      thread.postMessage('taken');
      await store(message.batch);
    }
    throw new Error('the thread that reads a statement ended');
  } catch (error) {
    throw broken.signal.aborted ? requestAborted() : error;
  } finally {
    stopWatching();
    // A body that is left open can still be answered.
    body.unpipe();
    await thread.terminate();
  }
};

/** The reconciliation was given up by now. */
export const interrupted = (): Conflict =>
  new Conflict(
    'interrupted',
    'Nothing was received for two minutes, the database restarted, or the reconciliation was withdrawn; send the statement again.',
  );

/**
 * Stores the lines of a statement as they arrive. Returns how many there are, and how many of them state each field.
 * Throws the errors of `readInThread`, and Conflict when the reconciliation was given up.
 */
export const storeLines = async (
  sql: Sql,
  id: string,
  body: Readable,
  reading: Reading,
): Promise<{ lines: number; fields: StatedFields }> => {
  let lines = 0;
  const fields = await readInThread(body, reading, async (batch) => {
    if (!(await insertLines(sql, id, batch))) throw interrupted();
    lines += batch.count;
  });
  return { lines, fields };
};
