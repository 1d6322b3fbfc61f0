import type { IncomingMessage } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';

export interface CookieOptions {
  /** Without `__Host-`, which a secure cookie gets. */
  name: string;
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

/**
 * A cookie that scripts can't read and forms of other sites don't send: HttpOnly, SameSite=Lax. Browsers
 * accept a `__Host-` cookie only from the host itself, over HTTPS and for the path `/` (RFC 6265bis
 * section 4.1.3), so another host of the same domain can't plant one.
 *
 * Where a browser does not know the prefix, two different values count as none (cookie tossing).
 */
export const createCookie = ({ name: bare, maxAgeSeconds, secure }: CookieOptions): Cookie => {
  const name = secure ? `__Host-${bare}` : bare;
  const set = (value: string, maxAge: number): string =>
    stringifySetCookie({ name, value, path: '/', maxAge, secure, httpOnly: true, sameSite: 'lax' });
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
