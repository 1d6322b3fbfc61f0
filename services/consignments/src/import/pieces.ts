import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem, Unavailable } from '@platform/service-kit/problem';

/** How often a body that stands still is looked after, in milliseconds. */
const step = 250;

interface Patience {
  /** How long the body may stand still before `onQuiet` is called again and again, in milliseconds. */
  quietMs: number;
  onQuiet: () => void;
  /** How long it may stand still at all. */
  idleMs: number;
  /** Whether the process is about to end. */
  isDraining: () => boolean;
}

/**
 * The body as it comes, all that has gathered at a time. Throws Problem 408 `import_idle` and Unavailable
 * `shutting_down`; the stream stays open then, so that the request can be answered.
 */
export async function* piecesOf(
  stream: Readable,
  { quietMs, onQuiet, idleMs, isDraining }: Patience,
): AsyncGenerator<Buffer, void> {
  const body = stream.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  const wait = async (): Promise<IteratorResult<Buffer>> => {
    const next = body.next();
    const start = performance.now();
    for (;;) {
      if (isDraining()) throw new Unavailable('shutting_down', 'This instance is being stopped.');
      const result = await Promise.race([
        next,
        sleep(Math.min(step, quietMs, idleMs), undefined, { ref: false }),
      ]);
      if (result !== undefined) return result;
      const still = performance.now() - start;
      if (still >= idleMs) {
        const detail = `Nothing came for ${idleMs} ms.`;
        throw new Problem({ status: 408, code: 'import_idle', detail });
      }
      if (still >= quietMs) onQuiet();
    }
  };
  for (let result = await wait(); !result.done; result = await wait()) yield result.value;
}
