import type { IncomingMessage } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';

type Headers = Pick<IncomingMessage, 'headers'>;

/** A cookie that contains a credential. */
export type CredentialCookie = ReturnType<typeof createCredentialCookie>;

interface CookieOptions {
  /** Name without the prefix `__Host-`, which only the Secure cookie has. */
  name: string;
  maxAgeSeconds: number;
}

const localhost = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i;

/**
 * Returns false if a page of another origin caused the request (CSRF). Browsers report the cause in Sec-Fetch-Site:
 * `same-origin`, or `none` for the user (typed address, bookmark). Without that header, Origin must name the requested host.
 * A request without both is not from a current browser; then only SameSite=Lax and the required media type protect (ADR 16).
 */
export const isSameOrigin = ({ headers }: Headers): boolean => {
  const { origin, host = '' } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  if (origin === undefined) return true;
  // Browsers write host and origin in the same ASCII form. Parsing them as URLs takes milliseconds for Punycode.
  return /^https?:\/\//i.test(origin) && origin.replace(/^.*?:\/\//, '').toLowerCase() === host.toLowerCase();
};

/**
 * Reads the value of a cookie. Undefined if it has two different values: a browser that ignores the prefix may send one that
 * another host planted (cookie tossing).
 */
const uniqueValue = ({ headers: { cookie = '' } }: Headers, name: string): string | undefined => {
  const values = new Set<string>();
  for (const pair of cookie.split(';')) {
    // Parses only matching pairs, because a client may send thousands of others.
    const value = pair.trimStart().startsWith(`${name}=`) ? parseCookie(pair)[name] : undefined;
    if (value !== undefined) values.add(value);
  }
  const [value] = values;
  return values.size === 1 && value !== '' ? value : undefined;
};

/**
 * Creates a cookie that scripts can't read and forms of other sites don't send: HttpOnly, SameSite=Lax, and Secure, except when
 * the service is called on localhost. Browsers accept a `__Host-` cookie only from the host itself, over HTTPS and for the path
 * `/` (RFC 6265bis section 4.1.3), so another host of the same domain can't plant one.
 */
export const createCredentialCookie = ({ name, maxAgeSeconds }: CookieOptions) => {
  const secureName = `__Host-${name}`;
  const isSecure = ({ headers: { host = '' } }: Headers): boolean => !localhost.test(host);
  const nameFor = (req: Headers): string => (isSecure(req) ? secureName : name);
  const set = (req: Headers, value: string, maxAge: number): string =>
    stringifySetCookie({
      name: nameFor(req),
      value,
      path: '/',
      maxAge,
      secure: isSecure(req),
      httpOnly: true,
      sameSite: 'lax',
    });
  return {
    /** Name of the Secure cookie. */
    name: secureName,
    /**
     * Undefined when the request has no such cookie, has it with two different values, or was caused by a page of another
     * origin.
     */
    read: (req: Headers): string | undefined =>
      isSameOrigin(req) ? uniqueValue(req, nameFor(req)) : undefined,
    /** `write` and `clear` return a Set-Cookie value. */
    write: (req: Headers, value: string): string => set(req, value, maxAgeSeconds),
    clear: (req: Headers): string => set(req, '', 0),
  };
};
