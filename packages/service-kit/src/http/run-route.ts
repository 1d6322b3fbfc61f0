import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { BodyBudget } from '../overload/body-budget.ts';
import type { CpuShare } from '../overload/cpu-share.ts';
import type { GuessLimit } from '../overload/guess-limit.ts';
import type { RequestRateLimit } from '../overload/rate-limit.ts';
import { withTimeout } from '../process/timeout.ts';
import { jsonBytes, parseJson } from './body.ts';
import { collectIssues } from './field-errors.ts';
import { networksOf, type ClientAddress, type Network } from './network.ts';
import {
  BadRequest,
  isOverload,
  Problem,
  TooManyRequests,
  toProblem,
  ValidationFailed,
  type FieldErrors,
} from './problem.ts';
import { deprecationHeaders, sendAnswer } from './respond.ts';
import { anyone, credentialHeaders, type LookupLimit, type Method, type Route } from './route.ts';

const defaultBodyLimit = 100_000;
/** Maximum number of values in such a body, with and without authentication. Refusing 8,000 unknown names blocks the process for 10 ms. */
const [defaultMaxValues, maxValuesOfAnyone] = [4_000, 1_000];

/** Parsing and validating such a body takes less than a millisecond, so it never waits. */
const smallBody = 4096;

/** Each started 100 kB of a response counts as one request (docs/adr/0102). */
const bytesPerRequest = 100_000;

/** The limits that apply to requests; part of every service's context. */
export interface Limits {
  clientAddress: ClientAddress;
  guessLimit: GuessLimit;
  /** Undefined when RATE_LIMIT is off. */
  rateLimit: RequestRateLimit | undefined;
  bodyBudget: BodyBudget;
  /** Bounds the time for reading bodies, which clients choose: other work always has half of the main thread. */
  reading: CpuShare;
}

/** The parameters in a path, decoded. */
export type Params = Readonly<Record<string, string | string[]>>;

/** A route that is ready to run. */
export interface PreparedRoute {
  method: Method;
  /** The path including the base path of the service: `/v1/quests/{questId}`. */
  address: string;
  fast: boolean;
  /** Whether each request needs a database connection: it is then refused early if the connection queue is full. */
  needsDatabase: boolean;
  /** Answers a request of the route. Rejects with an error that the error handler turns into a problem. */
  run(req: IncomingMessage, res: ServerResponse, params: Params): Promise<void>;
}

/** Maximum time for checking a caller after a failure, in ms. Redis may know the answer if the database is unavailable. */
const confirmMs = 500;

/** The rate limit key of a caller. */
const callerKey = (key: string): string => `k:${key}`;

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw new BadRequest('bad_encoding', 'The query string is not valid percent-encoded UTF-8.', error);
  }
};

/** Lower-case parameter name → declared spelling. */
type Spellings = ReadonlyMap<string, string>;

export const spellingsOf = (names: readonly string[]): Spellings =>
  new Map(names.map((name) => [name.toLowerCase(), name]));

/**
 * Parses the query of a request target strictly: each name at most once, each escape valid UTF-8. Names in `spellings` are
 * case-insensitive and returned in their declared spelling. Throws BadRequest `bad_encoding`, or ValidationFailed that names
 * the repeated parameter.
 */
export const parseQuery = (target: string, spellings?: Spellings): Record<string, string> => {
  const mark = target.indexOf('?');
  const query: Record<string, string> = Object.create(null);
  if (mark === -1) return query;
  for (const pair of target.slice(mark + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const sentName = decode(equals === -1 ? pair : pair.slice(0, equals));
    const name = spellings?.get(sentName.toLowerCase()) ?? sentName;
    if (name in query) throw new ValidationFailed({ [name]: ['may be given only once'] });
    query[name] = equals === -1 ? '' : decode(pair.slice(equals + 1));
  }
  return query;
};

/** The validation result of an input for which the route has no schema. */
const noSchemaResult = { success: true, data: undefined, error: undefined } as const;

/** Validates path, query and body; throws ValidationFailed that names every error. */
const createValidator = ({ params, query = z.strictObject({}), body, anyCaseQuery }: Route) => {
  const spellings = anyCaseQuery ? spellingsOf(Object.keys(query.shape)) : undefined;
  const bodySchema = body?.raw ? undefined : body?.schema;
  // Parsed once, because most requests have no query.
  const emptyQuery = query.safeParse({});

  return (url: string, sentParams: Params, sentBody: unknown) => {
    const results = {
      path: params?.safeParse(sentParams) ?? noSchemaResult,
      query: url.includes('?') ? query.safeParse(parseQuery(url, spellings)) : emptyQuery,
      body: bodySchema?.safeParse(sentBody) ?? noSchemaResult,
    };
    if (results.path.success && results.query.success && results.body.success)
      return { params: results.path.data, query: results.query.data, body: results.body.data };
    // Without a prototype: a client may send a field called __proto__.
    const errors: FieldErrors = Object.create(null);
    for (const [root, { error }] of Object.entries(results))
      if (error) collectIssues(errors, error.issues, root);
    throw new ValidationFailed(errors);
  };
};

/** Creates the authentication of a route, with the limits before and after it. */
const createAccess = ({ auth: guard, skipRateLimit }: Route, limits: Limits) => {
  const { clientAddress, guessLimit } = limits;
  const rateLimit = skipRateLimit ? undefined : limits.rateLimit;
  /** Counts an unknown credential for the network that sent it, whichever step of the route found it. */
  const countUnknown = async (req: IncomingMessage, error: unknown): Promise<void> => {
    if (error instanceof Problem && error.unknownCredential !== undefined)
      await guessLimit.count(req, error.unknownCredential);
  };
  /** The rate limit keys of a request: the caller's key, or without one the networks of the client. */
  const limitKeys = (req: IncomingMessage, key: string | undefined): readonly Network[] =>
    key === undefined
      ? networksOf(clientAddress(req)).map(({ name, factor }) => ({ name: `a:${name}`, factor }))
      : [{ name: callerKey(key), factor: 1 }];
  return {
    rateLimit,
    countUnknown,
    limitKeys,
    authenticate: async (
      req: IncomingMessage,
      res: ServerResponse,
      deferConfirmation: LookupLimit['deferConfirmation'],
    ): Promise<unknown> => {
      try {
        return await guard.identify(req, {
          checkGuesses: (kind) => guessLimit.check(req, kind),
          checkCaller: (key) => rateLimit?.check(res, callerKey(key)),
          ...(deferConfirmation && { deferConfirmation }),
        });
      } catch (error) {
        if (error instanceof TooManyRequests) throw error;
        // Before the request is counted, because that may throw 429 and every unknown credential must be counted.
        await countUnknown(req, error);
        await rateLimit?.count(res, limitKeys(req, undefined));
        throw error;
      }
    },
  };
};

/**
 * Prepares a route. Its requests are handled in this order: authentication, rate limit, body, validation, handler, response.
 * `template` is the name of the route in logs, metrics and traces.
 */
export const prepareRoute = (
  route: Route,
  { address, template, limits }: { address: string; template: string | undefined; limits: Limits },
): PreparedRoute => {
  const { auth: guard, body, logSuccess, confirmsCaller, deprecated } = route;
  const { rateLimit, authenticate, limitKeys, countUnknown } = createAccess(route, limits);
  const { types = ['application/json'], limit = defaultBodyLimit } = body ?? {};
  const readBytes = body && !body.raw ? jsonBytes(types, limit, limits.bodyBudget) : undefined;
  const usualMaxValues = guard === anyone ? maxValuesOfAnyone : defaultMaxValues;
  const { maxValues = limit > defaultBodyLimit ? Infinity : usualMaxValues } = body ?? {};
  const validateInput = createValidator(route);
  const varyOn = credentialHeaders(guard);
  const deprecation = deprecated && deprecationHeaders(deprecated);
  const runRoute: PreparedRoute['run'] = async (req, res, sentParams) => {
    res.template = template;
    res.varyOn = varyOn;
    res.deprecationHeaders = deprecation;
    res.logSuccess = logSuccess;
    let confirmCaller: (() => Promise<void>) | undefined;
    const deferConfirmation = confirmsCaller
      ? (confirm: () => Promise<void>) => void (confirmCaller = confirm)
      : undefined;
    const caller = guard === anyone ? undefined : await authenticate(req, res, deferConfirmation);
    res.callerKey = guard.keyOf(caller);
    try {
      const keys = limitKeys(req, res.callerKey);
      const counting = rateLimit?.count(res, keys);
      // Awaiting a value that is already known would cost a turn of the microtask queue.
      if (counting !== undefined) await counting;
      const bytes = readBytes && (await readBytes(req, res));
      const readInput = () => validateInput(req.url ?? '', sentParams, bytes && parseJson(bytes, maxValues));
      const isLarge = bytes !== undefined && bytes.length > smallBody;
      const {
        params,
        query,
        body: input,
      } = isLarge ? await limits.reading(req.scope?.client() ?? [], readInput) : readInput();
      let counted = 1;
      const countAs = (requests: number): void => {
        if (requests <= counted) return;
        rateLimit?.add(res, keys, requests - counted);
        counted = requests;
      };
      countAs(body?.requests?.(input) ?? 1);
      const answer = await route.handle({ caller, params, query, body: input, req, res, countAs });
      if (!res.headersSent)
        sendAnswer(req, res, route, answer, (length) => countAs(Math.ceil(length / bytesPerRequest)));
    } catch (error) {
      await countUnknown(req, error);
      const { status, code } = toProblem(error);
      // A refused request must not wait in the queue again, and a failed one must not wait long for a hanging database.
      const isRefused = status === 429 || isOverload(code);
      if (confirmCaller && !isRefused)
        await (status < 500
          ? confirmCaller()
          : withTimeout(confirmMs, () => error as Error, confirmCaller()));
      throw error;
    }
  };
  const fast = route.fast === true;
  return {
    method: route.method,
    address,
    fast,
    needsDatabase: !fast || confirmsCaller === true,
    run: runRoute,
  };
};
