import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem, Unavailable } from '@platform/service-kit/problem';

/** How often a body that stands still is asked whether it should be given up, in milliseconds. */
const step = 250;

interface Patience {
  /** How long the body may stand still, in milliseconds. */
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
  { idleMs, isDraining }: Patience,
): AsyncGenerator<Buffer, void> {
  const body = stream.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  const wait = async (): Promise<IteratorResult<Buffer>> => {
    const next = body.next();
    const deadline = performance.now() + idleMs;
    for (;;) {
      if (isDraining()) throw new Unavailable('shutting_down', 'This instance is being stopped.');
      const result = await Promise.race([next, sleep(Math.min(step, idleMs), undefined, { ref: false })]);
      if (result !== undefined) return result;
      if (performance.now() >= deadline) {
        const detail = `Nothing came for ${idleMs} ms.`;
        throw new Problem({ status: 408, code: 'import_idle', detail });
      }
    }
  };
  for (let result = await wait(); !result.done; result = await wait()) yield result.value;
}
