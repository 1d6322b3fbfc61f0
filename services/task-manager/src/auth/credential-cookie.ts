import type { IncomingMessage } from 'node:http';
import { createCookie, type Cookie, type CookieOptions } from './cookies.ts';

type Headers = Pick<IncomingMessage, 'headers'>;

/** A cookie that is Secure, except when the service is called on localhost. */
export interface CredentialCookie {
  /** The name of the Secure cookie. */
  name: string;
  /** Undefined also when a page of another origin made the browser send the request. */
  read(req: Headers): string | undefined;
  /** Set-Cookie values. */
  write(req: Headers, value: string): string;
  clear(req: Headers): string;
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
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
};

export const createCredentialCookie = (options: Omit<CookieOptions, 'secure'>): CredentialCookie => {
  const secure = createCookie({ ...options, secure: true });
  const insecure = createCookie({ ...options, secure: false });
  const cookieFor = ({ headers }: Headers): Cookie =>
    localhost.test(headers.host ?? '') ? insecure : secure;
  return {
    name: secure.name,
    read: (req) => (isSameOrigin(req) ? cookieFor(req).read(req) : undefined),
    write: (req, value) => cookieFor(req).write(value),
    clear: (req) => cookieFor(req).clear(),
  };
};
