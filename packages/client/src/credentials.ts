import type { Middleware } from 'openapi-fetch';

/** Authenticates the requests of a client: an openapi-fetch middleware that adds headers. */
export type Credential = Middleware;

/** An access token, or a function that returns the current one and is called before each request. */
export const bearer = (token: string | (() => string | Promise<string>)): Credential => ({
  onRequest: async ({ request }) => {
    request.headers.set('Authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
    return request;
  },
});

/** An API key of verify-projects. */
export const apiKey = (key: string): Credential => ({
  onRequest: ({ request }) => {
    request.headers.set('X-API-Key', key);
    return request;
  },
});

interface StoredCookie {
  name: string;
  value: string;
  host: string;
  path: string;
}

/** Whether a request to this URL gets the cookie (RFC 6265 section 5.1.4). */
const matches = ({ host, path }: StoredCookie, { hostname, pathname }: URL): boolean =>
  host === hostname && (path === pathname || pathname.startsWith(path.endsWith('/') ? path : `${path}/`));

/** Parses a Set-Cookie header in a response from this URL. The value is empty if the cookie is to be deleted. */
const readSetCookie = (header: string, { hostname: host, pathname }: URL): StoredCookie => {
  const [pair = '', ...attributePairs] = header.split(';');
  const equals = pair.indexOf('=');
  const attributes = new Map(
    attributePairs.map((attribute) => {
      const [name = '', value = ''] = attribute.split('=', 2);
      return [name.trim().toLowerCase(), value.trim()];
    }),
  );
  const pathValue = attributes.get('path') ?? '';
  const path = pathValue.startsWith('/') ? pathValue : pathname.slice(0, pathname.lastIndexOf('/')) || '/';
  const expired = Number(attributes.get('max-age') ?? 1) <= 0;
  return { name: pair.slice(0, equals), value: expired ? '' : pair.slice(equals + 1), host, path };
};

/**
 * Stores the cookies that a service sets and sends them back to the same host and path, as a browser does: register or
 * log in once, and all later requests with this value are made as that user. Use one per user, and only outside of
 * browsers, which do not let programs read cookies.
 */
export const cookieSession = (): Credential => {
  const cookies = new Map<string, StoredCookie>();
  return {
    onRequest: ({ request }) => {
      const url = new URL(request.url);
      const matching = [...cookies.values()].filter((cookie) => matches(cookie, url));
      if (matching.length === 0) return undefined;
      request.headers.set('Cookie', matching.map(({ name, value }) => `${name}=${value}`).join('; '));
      return request;
    },
    onResponse: ({ request, response }) => {
      for (const header of response.headers.getSetCookie()) {
        const cookie = readSetCookie(header, new URL(request.url));
        const key = [cookie.host, cookie.path, cookie.name].join(' ');
        if (cookie.value === '') cookies.delete(key);
        else cookies.set(key, cookie);
      }
    },
  };
};

/**
 * Signs each request as the game server signs its callbacks to wallet-operator: lower-case hex of HMAC-SHA256 over the
 * Unix time in seconds, the path and the raw body (docs/wallet-operator.md). `now` is for tests.
 */
export const requestSignature = (secret: string, now = (): number => Date.now()): Credential => {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const importedKey = crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  return {
    onRequest: async ({ request }) => {
      const timestamp = String(Math.floor(now() / 1000));
      const body = await request.clone().arrayBuffer();
      const signedBytes = new Blob([timestamp, new URL(request.url).pathname, body]);
      const digest = await crypto.subtle.sign('HMAC', await importedKey, await signedBytes.arrayBuffer());
      const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
      request.headers.set('X-Timestamp', timestamp);
      request.headers.set('X-HMAC-SHA256', hex);
      return request;
    },
  };
};
