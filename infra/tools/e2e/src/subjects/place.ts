import type { Subject } from '@platform/openapi-tests/examination';

/** A running service, or the gateway in front of all. */
export interface Place {
  url: string;
  /** An access token with every scope. */
  token: string;
  /** Secret of the wallet's callbacks. */
  hmacSecret: string;
}

/** What the operations of a service need. */
export type Arranged = Omit<Subject, 'url' | 'documentPath'>;

/** Calls an operation with the token of the place. */
export const call = async (
  { url, token }: Place,
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
