import { createRequestSignatures, type RequestSignatureOptions } from '@platform/auth/hmac';
import type { Credential } from './services.ts';

/** An access token, or what gives the one of the moment. */
export const bearer = (token: string | (() => string | Promise<string>)): Credential => ({
  onRequest: async ({ request }) => {
    request.headers.set('Authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
    return request;
  },
});

/** A key of verify-projects. */
export const apiKey = (key: string): Credential => ({
  onRequest: ({ request }) => {
    request.headers.set('X-API-Key', key);
    return request;
  },
});

/**
 * Keeps the cookies that a service sets and sends them back, as a browser does: register or log in once, and whoever
 * shares this value is that user. One for each user; for programs only (a browser has cookies of its own).
 */
export const cookieSession = (): Credential => {
  const jar = new Map<string, string>();
  return {
    onRequest: ({ request }) => {
      if (jar.size === 0) return undefined;
      request.headers.set('Cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
      return request;
    },
    onResponse: ({ response }) => {
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';', 1);
        const at = pair.indexOf('=');
        const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
        if (value === '' || /;\s*max-age=0(;|$)/i.test(line)) jar.delete(name);
        else jar.set(name, value);
      }
    },
  };
};

/**
 * Signs callbacks of the wallet as a game server does: HMAC-SHA256 over timestamp, path and raw body (seed 001 B, and
 * docs/wallet-operator.md). A request is signed anew each time it is sent.
 */
export const gameServer = (
  secret: string,
  options: Omit<RequestSignatureOptions, 'secrets'> = {},
): Credential => {
  const signatures = createRequestSignatures({ ...options, secrets: { current: secret } });
  return {
    onRequest: async ({ request }) => {
      const body = Buffer.from(await request.clone().arrayBuffer());
      const { timestamp, signature } = signatures.sign(new URL(request.url).pathname, body);
      request.headers.set('X-Timestamp', timestamp);
      request.headers.set('X-HMAC-SHA256', signature);
      return request;
    },
  };
};
