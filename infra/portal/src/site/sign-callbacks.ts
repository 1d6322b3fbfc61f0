/** What Scalar passes before it sends a request. */
export interface Outgoing {
  request: Request;
}

const hex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/**
 * Signs what goes to the wallet's callbacks as a game server does: HMAC-SHA256 over timestamp, path and body. Other
 * requests stay as they are.
 */
export const signCallbacks =
  (secret: string) =>
  async (request: Request): Promise<void> => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/callback/')) return;
    const timestamp = String(Math.floor(Date.now() / 1000));
    const bytes = new TextEncoder();
    const use = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', bytes.encode(secret), use, false, ['sign']);
    const text = `${timestamp}${pathname}${await request.clone().text()}`;
    request.headers.set('X-Timestamp', timestamp);
    request.headers.set('X-HMAC-SHA256', hex(await crypto.subtle.sign('HMAC', key, bytes.encode(text))));
  };
