import { hasScope } from '@platform/service-kit/scopes';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Wallet } from './api.ts';
import { inCell } from './cells.ts';

/** The network failed before the whole response of the gateway was there. */
export class NetworkError extends Error {
  constructor(cause: unknown) {
    super('The gateway cannot be reached.', { cause });
  }
}

/** Whether a request was ended by this page. */
export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';

/**
 * Passes on why a request has no response or no whole body. `fetch` rejects with a TypeError when the network fails,
 * which becomes a NetworkError; anything else, such as an AbortError, stays as it is.
 */
const throwNetworkError = (reason: unknown): never => {
  throw reason instanceof TypeError ? new NetworkError(reason) : reason;
};

/** An error response of a service or the gateway (RFC 9457); a proxy in between may send anything else. */
type ProblemDocument = Partial<Wallet['Problem']>;

/** A response with an error status; the message contains the request id. */
export class Refused extends Error {
  readonly status: number;
  /** The message without the request id. */
  readonly reason: string;
  /** The mistakes of the request, one sentence each, when there are several. */
  readonly mistakes: readonly string[];

  constructor(status: number, { detail, title, requestId, errors = {} }: ProblemDocument) {
    const mistakes = Object.entries(errors).map(([name, messages]) => `${name}: ${messages.join(', ')}`);
    // With several errors, the detail is all of them in one line.
    const isList = mistakes.length > 1;
    const reason = isList ? `${mistakes.length} mistakes` : (detail ?? title ?? `Status ${status}`);
    super([reason, ...(requestId ? [`Request ${requestId}`] : [])].join(' · '));
    this.status = status;
    this.reason = reason;
    this.mistakes = isList ? mistakes : [];
  }
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Somebody with a token that was pasted, or with those of an account of the organisation. */
export interface Account {
  /** Who it is, for the eyes only; the services check the token, not this page. */
  subject: string;
  /** When the token can no longer be used; undefined when it is renewed. */
  expiresAt: Date | undefined;
  /** A token that is valid now. Throws Refused with status 401 when there will be none any more. */
  token: () => Promise<string>;
  /** Signs out where the tokens are from, and leaves the page for that, unless the signal is aborted. */
  end?: (until: AbortSignal) => Promise<void>;
}

/** A session of an account, which is only in this closure. */
export interface Session extends Pick<Account, 'subject' | 'expiresAt'> {
  /**
   * Sends a request and returns the JSON of the response, which a DELETE does not have. A Blob is sent as it is, else
   * JSON. Throws Refused or NetworkError.
   */
  ask: <T>(path: string, method?: Method, body?: unknown, version?: string) => Promise<T>;
  /** Reads a record, and its version: with that, `ask` changes no other one (412). Throws Refused or NetworkError. */
  record: (path: string) => Promise<{ value: unknown; version: string }>;
  /** Reads a file. Throws Refused or NetworkError. */
  file: (path: string) => Promise<Blob>;
  /** Reads from a service what the token allows. Throws Refused, also when the token is not valid, or NetworkError. */
  readScopes: () => Promise<void>;
  /**
   * Whether the token has one of these scopes, or one that includes it, so that a view shows what it allows. True until
   * `readScopes` has succeeded: in an outage it may fail.
   */
  may: (...scopes: readonly string[]) => boolean;
  /** The time of the gateway, to the second and never later, by its newest answer; the browser's own before that. */
  serverTime: () => Date;
  /** Removes the account and aborts running requests. */
  close: () => void;
  /** Closes it, and signs out where the account is from, unless the signal is aborted. */
  signOut: (until: AbortSignal) => Promise<void>;
}

/** What a token says, unverified; nothing when it is not a JWT, which the services then refuse. */
const claims = (token: string): { sub?: unknown; exp?: unknown } => {
  try {
    const [, payload = ''] = token.split('.');
    return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as object;
  } catch {
    return {};
  }
};

const problemOf = (answer: Response): Promise<ProblemDocument> =>
  answer.json().then(
    (body: unknown) => (typeof body === 'object' && body !== null ? body : {}),
    () => ({}),
  );

/** The task manager accepts no tokens of others without AUTH_JWKS; the other services are the ones to believe. */
const isSystemRoute = (path: string): boolean => path.startsWith('/docs/ops/');

/** An account that is a token. */
export const accountOf = (token: string): Account => {
  const { sub, exp } = claims(token);
  return {
    subject: typeof sub === 'string' ? sub : 'somebody',
    expiresAt: typeof exp === 'number' ? new Date(exp * 1000) : undefined,
    token: () => Promise.resolve(token),
  };
};

/** Opens a session; `onExpired` is called when a service no longer accepts its token (401), or there is no other one. */
export const openSession = (given: Account, onExpired: () => void): Session => {
  const { subject, expiresAt } = given;
  let account: Account | undefined = given;
  const end = new AbortController();
  /** How much the clock of the gateway is ahead of the browser's, in ms. */
  let aheadMs = 0;
  let scopes: ReadonlySet<string> | undefined;
  const close = (): void => {
    account = undefined;
    end.abort();
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
    const sent = body === undefined ? {} : { body: isBlob ? body : JSON.stringify(body) };
    const always = { credentials: 'omit', cache: 'no-store', signal: end.signal } as const;
    const answer = await fetch(inCell(path), { method, headers, ...always, ...sent }).catch(
      throwNetworkError,
    );
    const date = answer.headers.get('Date');
    if (date !== null) aheadMs = Date.parse(date) - Date.now();
    if (answer.ok) return answer;
    const refused = new Refused(answer.status, await problemOf(answer));
    if (answer.status === 401 && !isSystemRoute(path)) onExpired();
    throw refused;
  };
  const ask = async <T>(...request: Parameters<typeof send>): Promise<T> => {
    const answer = await send(...request);
    return (answer.status === 204 ? undefined : await answer.json().catch(throwNetworkError)) as T;
  };
  return {
    subject,
    expiresAt,
    ask,
    readScopes: async () => {
      const readFrom = async ([service, ...others]: readonly string[]): Promise<{ scopes: string[] }> => {
        try {
          return await ask(`/docs/ops/caller/${service}`);
        } catch (error) {
          // This service is not deployed.
          if (error instanceof Refused && error.status === 404 && others.length > 0) return readFrom(others);
          throw error;
        }
      };
      scopes = new Set(
        (await readFrom([...SERVICES.slice(1), ...SERVICES.slice(0, 1)].map(({ name }) => name))).scopes,
      );
    },
    may: (...wanted) => scopes === undefined || wanted.some((scope) => hasScope(scopes ?? new Set(), scope)),
    record: async (path) => {
      const answer = await send(path);
      const value: unknown = await answer.json().catch(throwNetworkError);
      return { value, version: answer.headers.get('ETag') ?? '' };
    },
    file: async (path) => (await send(path)).blob().catch(throwNetworkError),
    serverTime: () => new Date(Date.now() + aheadMs),
    close,
    signOut: async (until) => {
      const ended = account?.end?.(until);
      close();
      await ended;
    },
  };
};

/** The session of the person who is signed in. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** The session of the person who is signed in. @throws outside of views, which only such a person sees */
export const useSession = (): Session => {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('nobody is signed in');
  return session;
};

/** The answer of a list of a management API: a page, and the array of its records. */
export interface ListAnswer {
  page: { number: number; has_more: boolean };
}

/** The records of a list, which has no other array. */
export const rowsOf = <Row>(answer: ListAnswer): Row[] => {
  const rows = (Object.values(answer) as unknown[]).find((value): value is Row[] => Array.isArray(value));
  if (rows === undefined) throw new Error('the answer has no list');
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
    const answer = await session.ask<ListAnswer>(`${path}?${query}`);
    rows.push(...rowsOf<Row>(answer));
    more = answer.page.has_more;
  }
  return rows;
};
