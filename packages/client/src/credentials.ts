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

/**
 * Stores the cookies that a service sets and sends them back, as a browser does: register or log in once, and all
 * later requests with this value are made as that user. Use one per user, and only outside of browsers, which do not
 * let programs read cookies.
 */
export const cookieSession = (): Credential => {
  const cookies = new Map<string, string>();
  return {
    onRequest: ({ request }) => {
      if (cookies.size === 0) return undefined;
      request.headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
      return request;
    },
    onResponse: ({ response }) => {
      for (const cookie of response.headers.getSetCookie()) {
        const [pair = '', ...attributes] = cookie.split(';');
        const equals = pair.indexOf('=');
        const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)];
        const expired = attributes.some((attribute) => attribute.trim().toLowerCase() === 'max-age=0');
        if (value === '' || expired) cookies.delete(name);
        else cookies.set(name, value);
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
  const imported = crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  return {
    onRequest: async ({ request }) => {
      const timestamp = String(Math.floor(now() / 1000));
      const body = await request.clone().arrayBuffer();
      const signed = new Blob([timestamp, new URL(request.url).pathname, body]);
      const digest = await crypto.subtle.sign('HMAC', await imported, await signed.arrayBuffer());
      const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
      request.headers.set('X-Timestamp', timestamp);
      request.headers.set('X-HMAC-SHA256', hex);
      return request;
    },
  };
};
