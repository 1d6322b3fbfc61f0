import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@platform/service-kit/problem';

/** How often a body that receives no data is checked, in milliseconds. */
const checkMs = 250;

interface IdleOptions {
  /** After this time without data, `onQuiet` is called at every check, in milliseconds. */
  quietMs: number;
  onQuiet: () => void;
  /** After this time without data, the import ends, in milliseconds. */
  idleMs: number;
  /** Returns a Problem if the import has to end now. */
  reasonToEnd: () => Problem | undefined;
}

/**
 * Yields the body in pieces, each with all data that has arrived since the last one. Throws Problem 408 `import_idle` or the
 * reason to end. Leaves the stream open, so that a response can be sent.
 */
export async function* piecesOf(
  stream: Readable,
  { quietMs, onQuiet, idleMs, reasonToEnd }: IdleOptions,
): AsyncGenerator<Buffer, void> {
  const body = stream.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  const wait = async (): Promise<IteratorResult<Buffer>> => {
    const next = body.next();
    const start = performance.now();
    for (;;) {
      const reason = reasonToEnd();
      if (reason !== undefined) throw reason;
      const result = await Promise.race([
        next,
        sleep(Math.min(checkMs, quietMs, idleMs), undefined, { ref: false }),
      ]);
      if (result !== undefined) return result;
      const waitedMs = performance.now() - start;
      if (waitedMs >= idleMs) {
        const detail = `No data arrived for ${idleMs} ms.`;
        throw new Problem({ status: 408, code: 'import_idle', detail });
      }
      if (waitedMs >= quietMs) onQuiet();
    }
  };
  for (let result = await wait(); !result.done; result = await wait()) yield result.value;
}
