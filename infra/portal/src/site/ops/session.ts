import { hasScope } from '@platform/service-kit/scopes';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Wallet } from './api.ts';
import { inCell } from './cells.ts';

/** The network failed before the response of the gateway was complete. */
export class NetworkError extends Error {
  constructor(cause: unknown) {
    super('The gateway cannot be reached.', { cause });
  }
}

/** Whether this page aborted the request. */
export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';

/**
 * Converts the error of a failed request and throws it. `fetch` rejects with a TypeError if the network fails, which becomes
 * a NetworkError; other errors, such as an AbortError, are not changed.
 */
const throwNetworkError = (reason: unknown): never => {
  throw reason instanceof TypeError ? new NetworkError(reason) : reason;
};

/** An error response of a service or the gateway (RFC 9457). A proxy may send any other body. */
type ProblemDocument = Partial<Wallet['Problem']>;

/** A response with an error status; the message contains the request id. */
export class Refused extends Error {
  readonly status: number;
  /** The message without the request id. */
  readonly reason: string;
  /** The errors of the request, one sentence each, if there are several. */
  readonly mistakes: readonly string[];

  constructor(status: number, { detail, title, requestId, errors = {} }: ProblemDocument) {
    const mistakes = Object.entries(errors).map(([name, messages]) => `${name}: ${messages.join(', ')}`);
    // If there are several errors, the detail contains all of them in one line.
    const isList = mistakes.length > 1;
    const reason = isList ? `${mistakes.length} mistakes` : (detail ?? title ?? `Status ${status}`);
    super([reason, ...(requestId ? [`Request ${requestId}`] : [])].join(' · '));
    this.status = status;
    this.reason = reason;
    this.mistakes = isList ? mistakes : [];
  }
}

/** Response of `/docs/ops/caller`. */
interface Caller {
  subject: string;
  scopes: string[];
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The signed-in user: with a pasted token, or with the tokens of an account of the organisation. */
export interface Account {
  /** Name of the user, only for display: the services check the token, not this page. */
  subject: string;
  /** Expiry time of the token; undefined if it is renewed. */
  expiresAt: Date | undefined;
  /** Returns a valid token. Throws Refused with status 401 if no token can be obtained any more. */
  token: () => Promise<string>;
  /** Signs out at the identity provider, for which it leaves the page, unless the signal is aborted. */
  end?: (until: AbortSignal) => Promise<void>;
}

/** A session of an account. The account is only in the closure of the session. */
export interface Session extends Pick<Account, 'subject' | 'expiresAt'> {
  /**
   * Sends a request and returns the JSON of the response (a DELETE has none). A Blob is sent unchanged, other bodies as JSON.
   * Throws Refused or NetworkError.
   */
  ask: <T>(path: string, method?: Method, body?: unknown, version?: string) => Promise<T>;
  /** Reads a record and its version. If it is passed to `ask`, another version gets 412. Throws Refused or NetworkError. */
  record: (path: string) => Promise<{ value: unknown; version: string }>;
  /** Reads a file. Throws Refused or NetworkError. */
  file: (path: string) => Promise<Blob>;
  /** Reads subject and scopes of the token from a service. Throws Refused, also if the token is invalid, or NetworkError. */
  readScopes: () => Promise<void>;
  /**
   * Whether the token has one of these scopes, or a scope that includes one. Views show only what it allows. True until
   * `readScopes` has succeeded, because it may fail in an outage.
   */
  may: (...scopes: readonly string[]) => boolean;
  /** Whether this is the subject of the token. True until `readScopes` has succeeded. */
  isOwn: (subject: string) => boolean;
  /** The time of the gateway (in seconds, never ahead), from its newest response; before that the time of the browser. */
  serverTime: () => Date;
  /** Removes the account and aborts running requests. */
  close: () => void;
  /** Closes the session and signs out at the identity provider, unless the signal is aborted. */
  signOut: (until: AbortSignal) => Promise<void>;
}

/** The unverified claims of a token; empty if it is not a JWT, which the services then reject. */
const claims = (token: string): { sub?: unknown; exp?: unknown } => {
  try {
    const [, payload = ''] = token.split('.');
    return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as object;
  } catch {
    return {};
  }
};

const problemOf = (response: Response): Promise<ProblemDocument> =>
  response.json().then(
    (body: unknown) => (typeof body === 'object' && body !== null ? body : {}),
    () => ({}),
  );

/** Whether a 401 does not end the session: without AUTH_JWKS the task manager accepts only its own tokens. */
const isSystemRoute = (path: string): boolean => path.startsWith('/docs/ops/');

/** Creates an account from a token. */
export const accountOf = (token: string): Account => {
  const { sub, exp } = claims(token);
  return {
    subject: typeof sub === 'string' ? sub : 'unknown user',
    expiresAt: typeof exp === 'number' ? new Date(exp * 1000) : undefined,
    token: () => Promise.resolve(token),
  };
};

/** Opens a session. `onExpired` is called if a service rejects its token (401), or if the token cannot be renewed. */
export const openSession = (openedAccount: Account, onExpired: () => void): Session => {
  const { subject, expiresAt } = openedAccount;
  let account: Account | undefined = openedAccount;
  const closing = new AbortController();
  /** Difference between the clock of the gateway and that of the browser, in ms. */
  let aheadMs = 0;
  let caller: { subject: string; scopes: ReadonlySet<string> } | undefined;
  const close = (): void => {
    account = undefined;
    closing.abort();
  };
  const token = async (): Promise<string> => {
    try {
      return (await account?.token()) ?? '';
    } catch (error) {
      if (error instanceof Refused && error.status === 401) onExpired();
      throw error;
    }
  };
  const send = async (
    path: string,
    method: Method = 'GET',
    body?: unknown,
    version = '',
  ): Promise<Response> => {
    const headers: Record<string, string> = { Authorization: `Bearer ${await token()}` };
    if (version !== '') headers['If-Match'] = version;
    const isBlob = body instanceof Blob;
    if (body !== undefined) headers['Content-Type'] = isBlob ? body.type : 'application/json';
    const bodyOption = body === undefined ? {} : { body: isBlob ? body : JSON.stringify(body) };
    const options = { credentials: 'omit', cache: 'no-store', signal: closing.signal } as const;
    const response = await fetch(inCell(path), { method, headers, ...options, ...bodyOption }).catch(
      throwNetworkError,
    );
    const date = response.headers.get('Date');
    if (date !== null) aheadMs = Date.parse(date) - Date.now();
    if (response.ok) return response;
    const refused = new Refused(response.status, await problemOf(response));
    if (response.status === 401 && !isSystemRoute(path)) onExpired();
    throw refused;
  };
  const ask = async <T>(...request: Parameters<typeof send>): Promise<T> => {
    const response = await send(...request);
    return (response.status === 204 ? undefined : await response.json().catch(throwNetworkError)) as T;
  };
  return {
    subject,
    expiresAt,
    ask,
    readScopes: async () => {
      const readFrom = async ([service, ...others]: readonly string[]): Promise<Caller> => {
        try {
          return await ask(`/docs/ops/caller/${service}`);
        } catch (error) {
          // The service is not deployed.
          if (error instanceof Refused && error.status === 404 && others.length > 0) return readFrom(others);
          throw error;
        }
      };
      const names = [...SERVICES.slice(1), ...SERVICES.slice(0, 1)].map(({ name }) => name);
      const response = await readFrom(names);
      caller = { ...response, scopes: new Set(response.scopes) };
    },
    may: (...wanted) =>
      caller === undefined || wanted.some((scope) => hasScope(caller?.scopes ?? new Set(), scope)),
    isOwn: (owner) => caller === undefined || caller.subject === owner,
    record: async (path) => {
      const response = await send(path);
      const value: unknown = await response.json().catch(throwNetworkError);
      return { value, version: response.headers.get('ETag') ?? '' };
    },
    file: async (path) => (await send(path)).blob().catch(throwNetworkError),
    serverTime: () => new Date(Date.now() + aheadMs),
    close,
    signOut: async (abort) => {
      const signedOut = account?.end?.(abort);
      close();
      await signedOut;
    },
  };
};

/** Context with the session of the signed-in user. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** Returns the session of the signed-in user. @throws outside views, which only a signed-in user sees */
export const useSession = (): Session => {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('no user is signed in');
  return session;
};

/** The response of a list in a management API: a page, and the array of its records. */
export interface ListResponse {
  page: { number: number; has_more: boolean };
}

/** Returns the records of a list response, which is its only array. */
export const rowsOf = <Row>(response: ListResponse): Row[] => {
  const rows = (Object.values(response) as unknown[]).find((value): value is Row[] => Array.isArray(value));
  if (rows === undefined) throw new Error('the response has no list');
  return rows;
};

/** Reads all pages of a list. */
export const readAll = async <Row>(
  session: Session,
  path: string,
  filters: Readonly<Record<string, string>>,
): Promise<Row[]> => {
  const rows: Row[] = [];
  for (let page = 1, more = true; more; page++) {
    const query = new URLSearchParams({ ...filters, page: String(page), limit: '200' });
    const response = await session.ask<ListResponse>(`${path}?${query}`);
    rows.push(...rowsOf<Row>(response));
    more = response.page.has_more;
  }
  return rows;
};
