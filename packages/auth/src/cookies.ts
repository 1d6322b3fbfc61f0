import type { IncomingMessage } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';

export interface CookieOptions {
  /** Without `__Host-` or `__Secure-`: the prefix follows from `secure` and `path`. */
  name: string;
  /** Default `/`. */
  path?: string;
  maxAgeSeconds: number;
  /** False only for plain HTTP on localhost. */
  secure: boolean;
}

/** One cookie that holds a credential. */
export interface Cookie {
  /** With its prefix. */
  name: string;
  /** Undefined when the request has no such cookie, or two with different values. */
  read: (req: Pick<IncomingMessage, 'headers'>) => string | undefined;
  /** The Set-Cookie value that stores `value`. */
  write: (value: string) => string;
  /** The Set-Cookie value that deletes the cookie. */
  clear: () => string;
}

/** Prefixes that browsers enforce (RFC 6265bis section 4.1.3). */
const prefixed = (name: string, path: string, secure: boolean): string => {
  if (!secure) return name;
  return path === '/' ? `__Host-${name}` : `__Secure-${name}`;
};

/**
 * A cookie that scripts can't read and forms of other sites don't send: HttpOnly, SameSite=Lax.
 *
 * An attacker with another host of the same domain can set a second cookie of the same name, and the
 * browser decides their order. So two different values count as none (cookie tossing).
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
