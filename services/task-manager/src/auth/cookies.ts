import type { IncomingMessage } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';

type Headers = Pick<IncomingMessage, 'headers'>;

/** A cookie that holds a credential. */
export type CredentialCookie = ReturnType<typeof createCredentialCookie>;

interface CookieOptions {
  /** Without `__Host-`, which the Secure cookie gets. */
  name: string;
  maxAgeSeconds: number;
}

const localhost = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i;

/**
 * Whether a request was not caused by a page of another origin (CSRF). Browsers say what caused a
 * request in Sec-Fetch-Site: `same-origin`, or `none` for the user (typed address, bookmark). Without
 * that header, an Origin must name the requested host. With neither it is not a browser of the last
 * years; SameSite=Lax and the media type of bodies remain (ADR 16).
 */
export const isSameOrigin = ({ headers }: Headers): boolean => {
  const { origin, host = '' } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  if (origin === undefined) return true;
  // Browsers write both alike, in ASCII. To parse a host in Punycode takes milliseconds.
  return /^https?:\/\//i.test(origin) && origin.replace(/^.*?:\/\//, '').toLowerCase() === host.toLowerCase();
};

/** The one value of a cookie. Where a browser does not know the prefix, two different values count as none (cookie tossing). */
const valueOf = ({ headers: { cookie = '' } }: Headers, name: string): string | undefined => {
  const values = new Set<string>();
  for (const pair of cookie.split(';')) {
    // Somebody may send thousands of others.
    const value = pair.trimStart().startsWith(`${name}=`) ? parseCookie(pair)[name] : undefined;
    if (value !== undefined) values.add(value);
  }
  const [value] = values;
  return values.size === 1 && value !== '' ? value : undefined;
};

/**
 * A cookie that scripts can't read and forms of other sites don't send: HttpOnly, SameSite=Lax, and Secure, except when the
 * service is called on localhost. Browsers
 * accept a `__Host-` cookie only from the host itself, over HTTPS and for the path `/` (RFC 6265bis
 * section 4.1.3), so another host of the same domain can't plant one.
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
    /** The name of the Secure cookie. */
    name: secureName,
    /**
     * Undefined when the request has no such cookie, or two with different values, and when a page of another origin made
     * the browser send the request.
     */
    read: (req: Headers): string | undefined => (isSameOrigin(req) ? valueOf(req, nameFor(req)) : undefined),
    /** Set-Cookie values. */
    write: (req: Headers, value: string): string => set(req, value, maxAgeSeconds),
    clear: (req: Headers): string => set(req, '', 0),
  };
};
