import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@platform/service-kit/problem';

/** How often a body that receives no data is checked, in milliseconds. */
const step = 250;

interface Patience {
  /** After this time without data `onQuiet` is called at every check, in milliseconds. */
  quietMs: number;
  onQuiet: () => void;
  /** After this time without data the import ends, in milliseconds. */
  idleMs: number;
  /** Why the import has to end now, if it has to. */
  reasonToEnd: () => Problem | undefined;
}

/**
 * The body in pieces, each all that has arrived so far. Throws Problem 408 `import_idle` and the reason to
 * end, and leaves the stream open, so that a response can be sent.
 */
export async function* piecesOf(
  stream: Readable,
  { quietMs, onQuiet, idleMs, reasonToEnd }: Patience,
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
        sleep(Math.min(step, quietMs, idleMs), undefined, { ref: false }),
      ]);
      if (result !== undefined) return result;
      const still = performance.now() - start;
      if (still >= idleMs) {
        const detail = `No data arrived for ${idleMs} ms.`;
        throw new Problem({ status: 408, code: 'import_idle', detail });
      }
      if (still >= quietMs) onQuiet();
    }
  };
  for (let result = await wait(); !result.done; result = await wait()) yield result.value;
}
