import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Subject } from './examination.ts';

/** A running service, or the gateway in front of all, and who calls it. */
export interface Caller {
  url: string;
  /** An access token with every scope. */
  token: string;
}

/** What a service is arranged with. */
export interface Place extends Caller {
  /** Secret of the wallet's callbacks. */
  hmacSecret: string;
  /** Waits until a condition holds, because services do some work in the background. */
  waitFor: (what: string, isSo: () => Promise<boolean>) => Promise<unknown>;
}

/** What the operations of a service need. */
export type Arranged = Omit<Subject, 'url' | 'documentPath'>;

/** Calls an operation with the token of the place. */
export const call = async (
  { url, token }: Caller,
  method: string,
  path: string,
  body?: object,
): Promise<{ body: Record<string, unknown>; response: Response }> => {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(body && { 'Content-Type': 'application/json' }),
  };
  const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') && text !== '';
  return { body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {}, response };
};

const services = join(import.meta.dirname, '../../../../services');

/**
 * Creates in a service what its operations need, and says how they are called, as test/subject.ts of the service does. A
 * service without that file needs a token only.
 */
export const arrange = async (service: string, place: Place): Promise<Arranged> => {
  const file = join(services, service, 'test/subject.ts');
  if (!existsSync(file)) return { credentials: { bearer: place.token } };
  const subject = (await import(file)) as { arrange: (place: Place) => Promise<Arranged> };
  return subject.arrange(place);
};
