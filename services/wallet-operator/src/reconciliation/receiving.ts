import { on } from 'node:events';
import { finished, type Readable } from 'node:stream';
import type { Worker } from 'node:worker_threads';
import { requestAborted } from '@platform/service-kit/body';
import { Conflict, Problem } from '@platform/service-kit/problem';
import { startThread } from '@platform/service-kit/thread';
import type { Sql } from 'postgres';
import type { Message, Reading } from './reading-thread.ts';
import { insertLines } from './queries.ts';
import type { FieldCounts } from './schema.ts';

/** Heap of a reading thread; five threads may run in a container of 512 MiB. */
const heapMiB = 32;

/** Starts a thread that runs reading-thread.ts. */
export const startReading = (reading: Reading): Worker =>
  startThread(new URL('reading-thread.ts', import.meta.url), heapMiB, { stdin: true, workerData: reading });

/** The problem when the reconciliation failed while its statement was being received. */
export const interrupted = (): Conflict =>
  new Conflict(
    'interrupted',
    'Nothing was received for two minutes, the database restarted, or the reconciliation was withdrawn; send the statement again.',
  );

/**
 * Parses a statement in a thread, because parsing it here would delay callbacks, and stores its lines as they arrive; the
 * thread parses the next batch meanwhile. Returns the number of lines, and how many of them contain each field. Throws the
 * problems that the thread finds in the statement, Conflict `interrupted`, and BadRequest `request_aborted` when the body
 * ends too early.
 */
export const storeLines = async (
  sql: Sql,
  id: string,
  body: Readable,
  reading: Reading,
): Promise<{ lines: number; fields: FieldCounts }> => {
  const thread = startReading(reading);
  const broken = new AbortController();
  const stopWatching = finished(body, { writable: false }, (error) => {
    if (error) broken.abort(error);
  });
  body.pipe(thread.stdin as NonNullable<typeof thread.stdin>);
  let lines = 0;
  try {
    const messages = on(thread, 'message', { signal: broken.signal, close: ['exit'] });
    for await (const [message] of messages as AsyncIterable<[Message]>) {
      if ('problem' in message) throw new Problem(message.problem);
      if ('fields' in message) return { lines, fields: message.fields };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only browser windows have a target origin
      thread.postMessage('taken');
      if (!(await insertLines(sql, id, message.batch))) throw interrupted();
      lines += message.batch.count;
    }
    throw new Error('the thread that reads a statement ended');
  } catch (error) {
    throw broken.signal.aborted ? requestAborted() : error;
  } finally {
    stopWatching();
    // Keeps the connection open, so that the client gets the answer.
    body.unpipe();
    await thread.terminate();
  }
};
