import type { IncomingMessage } from 'node:http';
import { createCookie, type Cookie, type CookieOptions } from '@platform/auth/cookies';

type Headers = Pick<IncomingMessage, 'headers'>;

/** A cookie that is Secure everywhere but on this very machine. */
export interface CredentialCookie {
  /** As it is called where it is Secure. */
  name: string;
  /** Undefined also when another site made the browser send the request. */
  read(req: Headers): string | undefined;
  /** Set-Cookie values. */
  write(req: Headers, value: string): string;
  clear(req: Headers): string;
}

const ownMachine = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/i;

/**
 * Browsers say when a request was started by a page of another site (Fetch Metadata). SameSite=Lax
 * keeps our cookies out of those but for links that are followed; this keeps them out of those too.
 */
export const isCrossSite = ({ headers }: Headers): boolean => headers['sec-fetch-site'] === 'cross-site';

export const createCredentialCookie = (options: Omit<CookieOptions, 'secure'>): CredentialCookie => {
  const secure = createCookie({ ...options, secure: true });
  const local = createCookie({ ...options, secure: false });
  const fitting = ({ headers }: Headers): Cookie => (ownMachine.test(headers.host ?? '') ? local : secure);
  return {
    name: secure.name,
    read: (req) => (isCrossSite(req) ? undefined : fitting(req).read(req)),
    write: (req, value) => fitting(req).write(value),
    clear: (req) => fitting(req).clear(),
  };
};
