import { STATUS_CODES } from 'node:http';
import { transientFault, type TransientFault } from '../database/database-error.ts';
import { messageIsSafe } from '../process/safe-error.ts';

/** Messages by parameter name or body path, for example `{"limit": ["must be at most 200"]}`. */
export type FieldErrors = Record<string, string[]>;

/** Types of credentials. Guesses of each type are counted separately. */
export type CredentialKind = 'api_key' | 'bearer' | 'path_token' | 'refresh_token';

/** A credential that was never issued. It counts as a guess. */
export interface UnknownCredential {
  kind: CredentialKind;
  hash: string;
}

interface ProblemInit {
  status: number;
  /** Stable snake_case name that client code can check. */
  code: string;
  detail: string;
  errors?: FieldErrors;
  /** Additional members of the response body (RFC 9457, section 3.2). */
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Counted as a guess of the caller's network. */
  unknownCredential?: UnknownCredential | undefined;
  cause?: unknown;
}

/** Reason phrases that RFC 9110 renamed; Node.js has the older ones. */
const renamedPhrases: Record<number, string> = { 413: 'Content Too Large', 422: 'Unprocessable Content' };

/** An error with an HTTP status. `detail` is for people and must not contain secrets. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: FieldErrors | undefined;
  readonly members: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly unknownCredential: UnknownCredential | undefined;
  /** False below 500, because these messages may quote the request. */
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

/** 400 `validation_failed`. `errors` and `detail` name every invalid parameter or body path. */
export class ValidationFailed extends Problem {
  constructor(errors: FieldErrors) {
    const detail = Object.entries(errors).map(([name, messages]) => `${name}: ${messages.join(', ')}`);
    super({ status: 400, code: 'validation_failed', detail: detail.join('; '), errors });
  }
}

/** 400 for a request that cannot be parsed, so no field can be named. */
export class BadRequest extends Problem {
  constructor(code: string, detail: string, cause?: unknown) {
    super({ status: 400, code, detail, cause });
  }
}

/** 401. `challenge` is the WWW-Authenticate value (RFC 9110, RFC 6750). */
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

/** 429. `seconds`: time until the next attempt may succeed. */
export class TooManyRequests extends Problem {
  constructor(seconds: number, detail = 'Too many requests; slow down.') {
    const wait = String(Math.max(1, Math.ceil(seconds)));
    super({ status: 429, code: 'too_many_requests', detail, headers: { 'Retry-After': wait } });
  }
}

/** 503: this service or a dependency is unavailable or overloaded. Nothing was changed unless `detail` says so. */
export class Unavailable extends Problem {
  constructor(code: string, detail: string, cause?: unknown, seconds = 2) {
    super({ status: 503, code, detail, cause, headers: { 'Retry-After': String(seconds) } });
  }
}

/** 503 `too_busy`: a bounded queue or budget is temporarily full. */
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

/** Whether the code means that a bounded queue refused the request. Such refusals are counted in metrics, not logged as errors. */
export const isOverload = (code: string | undefined): boolean =>
  code !== undefined && overloadCodes.has(code);

/** The JSON of a problem (RFC 9457), with `code`, and with `requestId` if the problem is the whole response. */
export const problemBody = (problem: Problem, requestId?: string) => ({
  ...problem.members,
  type: 'about:blank',
  title: renamedPhrases[problem.status] ?? STATUS_CODES[problem.status] ?? 'Error',
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
    // By default caches may store a 404, but it may depend on the caller's credential.
    'Cache-Control': 'no-store',
    ...problem.headers,
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
  };
  return { headers, body };
};

/** Database fault → [code, detail, seconds until the next attempt]; all are 503. */
const fromDatabase: Record<TransientFault, [string, string, number]> = {
  lost: [
    'database_unavailable',
    'The connection to the database was lost. A change may have been stored: read it, or repeat the request with its Idempotency-Key.',
    2,
  ],
  unavailable: ['database_unavailable', 'The database is unavailable; try again shortly.', 2],
  timeout: ['query_timeout', 'The query took too long; try again or narrow it down.', 2],
  conflict: ['write_conflict', 'The change conflicted with a concurrent change; try again.', 1],
};

/** Maps any error of a handler to a problem without a stack trace, SQL or HTML. An unknown error becomes a 500 without details. */
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
