import { keys, type Running } from './harness.ts';

export interface Reply<T = Record<string, unknown>> {
  status: number;
  type: string | null;
  location: string | null;
  body: T;
}

/** Sends management requests with an access token of these scopes. */
export const person = async (
  { url }: Pick<Running, 'url'>,
  scope = 'wallet:admin wallet:read',
  sub = 'ann',
) => {
  const token = await keys.token({ scope, sub });
  const send = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const answer = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return {
      status: answer.status,
      type: answer.headers.get('content-type'),
      location: answer.headers.get('location'),
      body: (await answer.json()) as Record<string, unknown>,
    };
  };
  return {
    get: (path: string) => send('GET', path),
    post: (path: string, body: unknown) => send('POST', path, body),
    put: (path: string, body: unknown) => send('PUT', path, body),
    patch: (path: string, body: unknown) => send('PATCH', path, body),
  };
};
