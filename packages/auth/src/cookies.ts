import type { IncomingMessage } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';

export interface CookieOptions {
  /** Without a prefix: that follows from `secure` and `path`. */
  name: string;
  /** `/` unless said otherwise. */
  path?: string;
  maxAgeSeconds: number;
  /** False only where the service is reached by plain HTTP on localhost. */
  secure: boolean;
}

/** One cookie that holds a credential. */
export interface Cookie {
  /** As browsers know it, prefix and all. */
  name: string;
  /** Undefined when it is not there, or there twice with different values. */
  read: (req: Pick<IncomingMessage, 'headers'>) => string | undefined;
  /** The Set-Cookie value that keeps `value`. */
  write: (value: string) => string;
  /** The Set-Cookie value that makes browsers forget it. */
  clear: () => string;
}

/** Prefixes that browsers enforce (RFC 6265bis section 4.1.3). */
const prefixed = (name: string, path: string, secure: boolean): string => {
  if (!secure) return name;
  return path === '/' ? `__Host-${name}` : `__Secure-${name}`;
};

/**
 * A cookie that scripts can't read and other sites' forms don't send: HttpOnly, SameSite=Lax.
 *
 * Somebody who controls a neighbouring host can plant a second cookie of the same name, and which
 * one comes first is up to the browser. So two different values count as none.
 */
export const createCookie = ({ name: bare, path = '/', maxAgeSeconds, secure }: CookieOptions): Cookie => {
  const name = prefixed(bare, path, secure);
  const set = (value: string, maxAge: number): string =>
    stringifySetCookie({ name, value, path, maxAge, secure, httpOnly: true, sameSite: 'lax' });
  return {
    name,
    read: (req) => {
      const header = req.headers.cookie;
      if (header === undefined) return undefined;
      const values = new Set<string>();
      for (const pair of header.split(';')) {
        const value = parseCookie(pair)[name];
        if (value !== undefined) values.add(value);
      }
      const [value] = values;
      return values.size === 1 && value !== '' ? value : undefined;
    },
    write: (value) => set(value, maxAgeSeconds),
    clear: () => set('', 0),
  };
};
