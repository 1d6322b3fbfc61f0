import type { Credential } from './credentials.ts';
import type { Operation } from './document.ts';
import { sendHead } from './send.ts';

/**
 * Finds operations that wait for the body of a caller without a credential. They must refuse such a caller first: the
 * gateway streams bodies, so reading early lets anonymous callers fill the memory of the service. Such an operation never
 * answers; `limitMs` is how long that is waited for.
 */
export const waitsForBody = async (
  url: string,
  operations: readonly Operation[],
  credentials: Record<string, Credential>,
  limitMs: number,
): Promise<string[]> => {
  // A signature covers the body, so it can be checked only after the body was read.
  const isInHead = (scheme: string): boolean => typeof credentials[scheme] !== 'function';
  const guarded = operations.filter(
    ({ body, security }) => body !== undefined && security.length > 0 && security.flat().every(isInHead),
  );
  const faults = await Promise.all(
    guarded.map(async ({ id, method, template, body = {} }) => {
      const target = template.replaceAll(/\{\w+\}/g, 'x');
      const headers = { Host: 'service.example.test', 'Content-Type': Object.keys(body)[0] ?? '' };
      const status = await sendHead(url, { method, target, headers }, limitMs);
      return status === 401
        ? []
        : [`${id} must answer 401 before it reads a body, not ${status ?? 'wait for it'}`];
    }),
  );
  return faults.flat();
};
