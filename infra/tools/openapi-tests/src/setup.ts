import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Subject } from './checked-client.ts';

/** A running service, or the gateway in front of all services, and a token for it. */
export interface Access {
  url: string;
  /** An access token with every scope. */
  token: string;
}

/** A running service, and what is needed to create its records. */
export interface TestServer extends Access {
  /** Secret of the wallet's callbacks. */
  hmacSecret: string;
  /** Waits until a condition is true, because services do some work in the background. */
  waitFor: (description: string, condition: () => Promise<boolean>) => Promise<unknown>;
}

/** Credentials, paths and values for calls of a service's operations. */
export type ServiceSetup = Omit<Subject, 'url' | 'documentPath'>;

/** Calls an operation with the token. */
export const call = async (
  { url, token }: Access,
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
 * Creates the records that the operations of a service need, with test/subject.ts of the service. A service without this
 * file needs only a token.
 */
export const setUp = async (service: string, server: TestServer): Promise<ServiceSetup> => {
  const file = join(services, service, 'test/subject.ts');
  if (!existsSync(file)) return { credentials: { bearer: server.token } };
  const subject = (await import(file)) as { setUp: (server: TestServer) => Promise<ServiceSetup> };
  return subject.setUp(server);
};
