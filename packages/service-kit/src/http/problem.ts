import { transientFault, type TransientFault } from '../process/database-error.ts';

/**
 * Errors as the outside sees them: RFC 9457 `application/problem+json`.
 *
 * A use case throws a Problem (or a named subclass); `toProblem` gives everything else that can be
 * thrown below an HTTP handler its one answer. Nothing here ever carries a stack, SQL or HTML.
 */

/** Messages by parameter name or body path, for example `{"limit": ["must be at most 200"]}`. */
export type FieldErrors = Record<string, string[]>;

interface ProblemInit {
  status: number;
  /** Stable snake_case name that a client may branch on. */
  code: string;
  detail: string;
  errors?: FieldErrors;
  headers?: Record<string, string>;
  /** Hash of a credential that was sent and that nobody issued; counts against the caller's network. */
  unknownCredential?: string | undefined;
  cause?: unknown;
}

const titles: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  422: 'Unprocessable Content',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** An error with an HTTP answer. `detail` is read by people and must hold no secret. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: FieldErrors | undefined;
  readonly headers: Record<string, string>;
  readonly unknownCredential: string | undefined;

  constructor(init: ProblemInit) {
    super(init.detail, { cause: init.cause });
    this.name = new.target.name;
    this.status = init.status;
    this.code = init.code;
    this.errors = init.errors;
    this.headers = init.headers ?? {};
    this.unknownCredential = init.unknownCredential;
  }
}

/** 400 `validation_failed`: names every offending parameter or body path, in `detail` too. */
export class ValidationFailed extends Problem {
  constructor(errors: FieldErrors) {
    const detail = Object.entries(errors).map(([name, messages]) => `${name}: ${messages.join(', ')}`);
    super({ status: 400, code: 'validation_failed', detail: detail.join('; '), errors });
  }
}

/** 400 for a request that can't be read at all, before any field can be named. */
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
  constructor(detail: string, challenge: string, code = 'unauthorized', unknownCredential?: string) {
    super({ status: 401, code, detail, unknownCredential, headers: { 'WWW-Authenticate': challenge } });
  }
}

/** 403 that names the scope the caller lacks. */
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
  constructor(what: string) {
    super({ status: 404, code: 'not_found', detail: `There is no such ${what}.` });
  }
}

/** 409: the request is sound but clashes with what is stored. */
export class Conflict extends Problem {
  constructor(code: string, detail: string) {
    super({ status: 409, code, detail });
  }
}

/** 429. `seconds` until another try may succeed. */
export class TooManyRequests extends Problem {
  constructor(seconds: number, detail = 'Too many requests; slow down.') {
    const wait = String(Math.max(1, Math.ceil(seconds)));
    super({ status: 429, code: 'too_many_requests', detail, headers: { 'Retry-After': wait } });
  }
}

/** 503: something this service needs is away or overloaded; nothing was changed. */
export class Unavailable extends Problem {
  constructor(code: string, detail: string, cause?: unknown, seconds = 2) {
    super({ status: 503, code, detail, cause, headers: { 'Retry-After': String(seconds) } });
  }
}

/** The body of the answer, as RFC 9457 and our clients expect it. */
export const problemBody = (problem: Problem, requestId: string) => ({
  type: 'about:blank',
  title: titles[problem.status] ?? 'Error',
  status: problem.status,
  detail: problem.message,
  code: problem.code,
  requestId,
  ...(problem.errors === undefined ? {} : { errors: problem.errors }),
});

/** What body-parser and Express put on the errors they throw (the http-errors convention). */
interface HttpError {
  status?: unknown;
  type?: unknown;
}

const unreadable: Record<string, Problem> = {
  'entity.too.large': new Problem({ status: 413, code: 'too_large', detail: 'The body is too large.' }),
  'encoding.unsupported': new Problem({
    status: 415,
    code: 'unsupported_encoding',
    detail: 'The content encoding is not supported.',
  }),
  'request.aborted': new BadRequest('request_aborted', 'The request ended before its body was complete.'),
  'request.size.invalid': new BadRequest(
    'length_mismatch',
    'The body does not have the length that was announced.',
  ),
};

const fromDatabase: Record<TransientFault, (cause: unknown) => Problem> = {
  unavailable: (cause) =>
    new Unavailable('database_unavailable', 'The database is unavailable; try again shortly.', cause),
  timeout: (cause) =>
    new Unavailable('query_timeout', 'The query took too long; try again or narrow it down.', cause),
  conflict: (cause) =>
    new Unavailable('write_conflict', 'A concurrent change got in the way; try again.', cause, 1),
};

/** The one place that decides what an error looks like from outside. Unknown errors become a bare 500. */
export const toProblem = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  const { status, type } = (typeof error === 'object' && error !== null ? error : {}) as HttpError;
  const known = typeof type === 'string' ? unreadable[type] : undefined;
  if (known !== undefined) return known;
  const fault = transientFault(error);
  if (fault !== undefined) return fromDatabase[fault](error);
  if (error instanceof Error && error.cause instanceof Unavailable) return error.cause;
  if (error instanceof URIError || status === 400)
    return new BadRequest('bad_request', 'The request could not be read.', error);
  return new Problem({
    status: 500,
    code: 'internal_error',
    detail: 'Something went wrong on our side.',
    cause: error,
  });
};
