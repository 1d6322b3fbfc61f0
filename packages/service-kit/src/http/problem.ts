import { STATUS_CODES } from 'node:http';
import { transientFault, type TransientFault } from '../database/database-error.ts';
import { messageIsSafe } from '../process/safe-error.ts';

/** Messages by parameter name or body path, for example `{"limit": ["must be at most 200"]}`. */
export type FieldErrors = Record<string, string[]>;

/** Kinds of credentials; guesses of each are counted apart. */
export type CredentialKind = 'api_key' | 'bearer' | 'path_token' | 'refresh_token';

/** A credential that was never issued. */
export interface UnknownCredential {
  kind: CredentialKind;
  hash: string;
}

interface ProblemInit {
  status: number;
  /** Stable snake_case name for clients to decide by. */
  code: string;
  detail: string;
  errors?: FieldErrors;
  /** More members of the response body (RFC 9457, section 3.2). */
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Counts against the caller's network. */
  unknownCredential?: UnknownCredential | undefined;
  cause?: unknown;
}

/** Reason phrases that RFC 9110 renamed; Node has the older ones. */
const renamed: Record<number, string> = { 413: 'Content Too Large', 422: 'Unprocessable Content' };

/** An error with an HTTP status. `detail` is for people and must not contain secrets. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: FieldErrors | undefined;
  readonly members: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly unknownCredential: UnknownCredential | undefined;
  /** What is wrong with a request may quote it. */
  readonly [messageIsSafe]: boolean;

  constructor(init: ProblemInit) {
    super(init.detail, { cause: init.cause });
    this.name = new.target.name;
    this.status = init.status;
    this.code = init.code;
    this.errors = init.errors;
    this.members = init.members ?? {};
    this.headers = init.headers ?? {};
    this.unknownCredential = init.unknownCredential;
    this[messageIsSafe] = init.status >= 500;
  }
}

/** 400 `validation_failed`: names every invalid parameter or body path, also in `detail`. */
export class ValidationFailed extends Problem {
  constructor(errors: FieldErrors) {
    const detail = Object.entries(errors).map(([name, messages]) => `${name}: ${messages.join(', ')}`);
    super({ status: 400, code: 'validation_failed', detail: detail.join('; '), errors });
  }
}

/** 400 for a request that cannot be parsed, so that no field can be named. */
export class BadRequest extends Problem {
  constructor(code: string, detail: string, cause?: unknown) {
    super({ status: 400, code, detail, cause });
  }
}

/**
 * 401. `challenge` is the WWW-Authenticate value (RFC 9110, RFC 6750); `unknownCredential` as in
 * ProblemInit.
 */
export class Unauthorized extends Problem {
  constructor(
    detail: string,
    challenge: string,
    code = 'unauthorized',
    unknownCredential?: UnknownCredential,
  ) {
    super({ status: 401, code, detail, unknownCredential, headers: { 'WWW-Authenticate': challenge } });
  }
}

/** 403 that names the missing scope. */
export class InsufficientScope extends Problem {
  constructor(scope: string, challenge?: string) {
    super({
      status: 403,
      code: 'insufficient_scope',
      detail: `The credential lacks the scope ${scope}.`,
      ...(challenge === undefined ? {} : { headers: { 'WWW-Authenticate': challenge } }),
    });
  }
}

/** 404, for example `new NotFound('task')`. */
export class NotFound extends Problem {
  constructor(name: string) {
    super({ status: 404, code: 'not_found', detail: `There is no such ${name}.` });
  }
}

/** 409: the request is valid but conflicts with the stored state. */
export class Conflict extends Problem {
  constructor(code: string, detail: string) {
    super({ status: 409, code, detail });
  }
}

/** 429. `seconds` until the next attempt may succeed. */
export class TooManyRequests extends Problem {
  constructor(seconds: number, detail = 'Too many requests; slow down.') {
    const wait = String(Math.max(1, Math.ceil(seconds)));
    super({ status: 429, code: 'too_many_requests', detail, headers: { 'Retry-After': wait } });
  }
}

/** 503: this service or one that it needs is unavailable or overloaded; nothing was changed unless `detail` says so. */
export class Unavailable extends Problem {
  constructor(code: string, detail: string, cause?: unknown, seconds = 2) {
    super({ status: 503, code, detail, cause, headers: { 'Retry-After': String(seconds) } });
  }
}

/** 503 `too_busy`: a bounded queue or budget is full, for the moment. */
export class TooBusy extends Unavailable {
  constructor(detail: string) {
    super('too_busy', detail, undefined, 1);
  }
}

const overloadCodes = new Set([
  'too_busy',
  'busy',
  'too_many_downloads',
  'too_many_imports',
  'too_many_readers',
  'too_many_tests',
]);

/** Whether a bounded queue refused the request: no fault of the process, so no error in its log. Metrics count it. */
export const isOverload = (code: string | undefined): boolean =>
  code !== undefined && overloadCodes.has(code);

/** What a caller sees of a problem: RFC 9457, with `code` and, if it is the whole answer, `requestId` for clients. */
export const problemBody = (problem: Problem, requestId?: string) => ({
  ...problem.members,
  type: 'about:blank',
  title: renamed[problem.status] ?? STATUS_CODES[problem.status] ?? 'Error',
  status: problem.status,
  detail: problem.message,
  code: problem.code,
  requestId,
  errors: problem.errors,
});

/** The response of a problem: its headers, and its body as JSON. */
export const problemResponse = (problem: Problem, requestId: string) => {
  const body = JSON.stringify(problemBody(problem, requestId));
  const headers: Record<string, string | number> = {
    // A 404 may be cached unless it says otherwise, and it may depend on the caller's credential.
    'Cache-Control': 'no-store',
    ...problem.headers,
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
  };
  return { headers, body };
};

/** [code, detail, seconds until the next attempt] by the kind of database error; all are 503. */
const fromDatabase: Record<TransientFault, [string, string, number]> = {
  lost: [
    'database_unavailable',
    'The connection to the database was lost. A change may have been stored: read it, or repeat the request with its Idempotency-Key.',
    2,
  ],
  unavailable: ['database_unavailable', 'The database is unavailable; try again shortly.', 2],
  timeout: ['query_timeout', 'The query took too long; try again or narrow it down.', 2],
  conflict: ['write_conflict', 'A concurrent change got in the way; try again.', 1],
};

/**
 * Maps everything that a handler can throw to the error that the caller sees: RFC 9457 problem details without a stack
 * trace, SQL or HTML. An unknown error becomes a 500 without details.
 */
export const toProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  const fault = transientFault(error);
  if (fault !== undefined) {
    const [code, detail, seconds] = fromDatabase[fault];
    return new Unavailable(code, detail, error, seconds);
  }
  if (error instanceof Error && error.cause instanceof Problem) return error.cause;
  if (error instanceof URIError)
    return new BadRequest('bad_request', 'The request could not be read.', error);
  const detail = 'Something went wrong on our side.';
  return new Problem({ status: 500, code: 'internal_error', detail, cause: error });
};
