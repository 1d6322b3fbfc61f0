import { request } from 'node:http';
import type { Credential } from './credentials.ts';
import type { Operation } from './document.ts';

const limitMs = 5_000;

/** Sends the head of a request and never its body; the status of the response, undefined when none comes. */
const sendHead = (url: string, method: string, path: string, type: string): Promise<number | undefined> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const headers = { Host: 'service.example.test', 'Content-Type': type, 'Content-Length': '64' };
    const sent = request({ hostname, port, method, path, headers, agent: false, timeout: limitMs });
    const end = (status?: number): void => {
      resolve(status);
      sent.destroy();
    };
    sent
      .on('response', ({ statusCode }) => end(statusCode))
      .on('timeout', () => end())
      .on('error', () => end())
      .flushHeaders();
  });

/**
 * Finds operations that wait for the body of a caller without a credential. They must refuse such a caller first: the
 * gateway streams bodies, so reading early lets anonymous callers fill the memory of the service.
 */
export const waitsForBody = async (
  url: string,
  operations: readonly Operation[],
  credentials: Record<string, Credential>,
): Promise<string[]> => {
  // A signature covers the body, so it can be checked only after the body was read.
  const isInHead = (scheme: string): boolean => typeof credentials[scheme] !== 'function';
  const guarded = operations.filter(
    ({ body, security }) => body !== undefined && security.length > 0 && security.flat().every(isInHead),
  );
  const faults = await Promise.all(
    guarded.map(async ({ id, method, template, body = {} }) => {
      const path = template.replaceAll(/\{\w+\}/g, 'x');
      const status = await sendHead(url, method.toUpperCase(), path, Object.keys(body)[0] ?? '');
      return status === 401
        ? []
        : [`${id} must answer 401 before it reads a body, not ${status ?? 'wait for it'}`];
    }),
  );
  return faults.flat();
};
