import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { BodyBudget } from '../overload/body-budget.ts';
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
/** Values of a body of this size. To refuse 8,000 unknown names takes ten milliseconds from everybody. */
const [defaultMaxValues, maxValuesOfAnyone] = [4_000, 1_000];

/** Every started 100 kB of an answer count as one request (docs/adr/0102). */
const bytesPerRequest = 100_000;

/** What limits requests; part of every service's context. */
export interface Limits {
  clientAddress: ClientAddress;
  guessLimit: GuessLimit;
  /** Undefined when RATE_LIMIT is off. */
  rateLimit: RequestRateLimit | undefined;
  bodyBudget: BodyBudget;
}

/** The parameters in a path, decoded. */
export type Params = Readonly<Record<string, string | string[]>>;

/** A route that is ready to run. */
export interface PreparedRoute {
  method: Method;
  /** Its path with the base path of the service: `/v1/quests/{questId}`. */
  address: string;
  fast: boolean;
  /** Whether each request needs a connection of the pool: it is refused early when the queue for these is full. */
  needsDatabase: boolean;
  /** Answers a request of the route. Rejects with what the error handler turns into a problem. */
  run(req: IncomingMessage, res: ServerResponse, params: Params): Promise<void>;
}

/** How long a caller is looked up after the service has failed, in ms; Redis may know it when the database is away. */
const confirmMs = 500;

/** Where the requests of a caller are counted. */
const callerKey = (key: string): string => `k:${key}`;

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw new BadRequest('bad_encoding', 'The query string is not valid percent-encoded UTF-8.', error);
  }
};

/** Parameter names by their lower-case form. */
type Spelling = ReadonlyMap<string, string>;

export const spellingOf = (names: readonly string[]): Spelling =>
  new Map(names.map((name) => [name.toLowerCase(), name]));

/**
 * Reads the query of a request target strictly: every name at most once, every escape valid UTF-8.
 *
 * Names in `spelling` are matched without regard to case and returned with its spelling.
 * Throws BadRequest `bad_encoding` or ValidationFailed naming the repeated parameter.
 */
export const parseQuery = (target: string, spelling?: Spelling): Record<string, string> => {
  const mark = target.indexOf('?');
  const query: Record<string, string> = Object.create(null);
  if (mark === -1) return query;
  for (const pair of target.slice(mark + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const sent = decode(equals === -1 ? pair : pair.slice(0, equals));
    const name = spelling?.get(sent.toLowerCase()) ?? sent;
    if (name in query) throw new ValidationFailed({ [name]: ['may be given only once'] });
    query[name] = equals === -1 ? '' : decode(pair.slice(equals + 1));
  }
  return query;
};

/** The result of a schema that a route does not have. */
const accepted = { success: true, data: undefined, error: undefined } as const;

/** Validates path, query and body; throws ValidationFailed that names every error. */
const createValidator = ({ params, query = z.strictObject({}), body, anyCaseQuery }: Route) => {
  const spelling = anyCaseQuery ? spellingOf(Object.keys(query.shape)) : undefined;
  const bodySchema = body?.raw ? undefined : body?.schema;
  // Most requests have no query; what its schema makes of that is always the same.
  const noQuery = query.safeParse({});

  return (url: string, sentParams: Params, sentBody: unknown) => {
    const results = {
      path: params?.safeParse(sentParams) ?? accepted,
      query: url.includes('?') ? query.safeParse(parseQuery(url, spelling)) : noQuery,
      body: bodySchema?.safeParse(sentBody) ?? accepted,
    };
    if (results.path.success && results.query.success && results.body.success)
      return { params: results.path.data, query: results.query.data, body: results.body.data };
    // Without a prototype: a client may send a field called __proto__.
    const errors: FieldErrors = Object.create(null);
    for (const [whole, { error }] of Object.entries(results))
      if (error) collectIssues(errors, error.issues, whole);
    throw new ValidationFailed(errors);
  };
};

/** Authentication, and the limits before and after it. */
const createAccess = ({ auth: guard, skipRateLimit }: Route, limits: Limits) => {
  const { clientAddress, guessLimit } = limits;
  const rateLimit = skipRateLimit ? undefined : limits.rateLimit;
  /** An unknown credential counts against the network that sent it, wherever in the route it was found. */
  const countUnknown = async (req: IncomingMessage, error: unknown): Promise<void> => {
    if (error instanceof Problem && error.unknownCredential !== undefined)
      await guessLimit.count(req, error.unknownCredential);
  };
  /** What the request counts against: a caller, or without a key the networks of the client. */
  const countedOf = (req: IncomingMessage, key: string | undefined): readonly Network[] =>
    key === undefined
      ? networksOf(clientAddress(req)).map(({ name, factor }) => ({ name: `a:${name}`, factor }))
      : [{ name: callerKey(key), factor: 1 }];
  return {
    rateLimit,
    countUnknown,
    countedOf,
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
        // Before the request is counted, which may answer 429: no unknown credential may go uncounted.
        await countUnknown(req, error);
        await rateLimit?.count(res, countedOf(req, undefined));
        throw error;
      }
    },
  };
};

/**
 * Prepares a route. What runs is the order in which every request of every service is handled, whoever found its route:
 * authentication, limit, body, validation, handler, answer. `template` is what logs, metrics and traces call the route.
 */
export const prepareRoute = (
  route: Route,
  { address, template, limits }: { address: string; template: string | undefined; limits: Limits },
): PreparedRoute => {
  const { auth: guard, body, logSuccess, confirmsCaller, deprecated } = route;
  const { rateLimit, authenticate, countedOf, countUnknown } = createAccess(route, limits);
  const { types = ['application/json'], limit = defaultBodyLimit } = body ?? {};
  const readBytes = body && !body.raw ? jsonBytes(types, limit, limits.bodyBudget) : undefined;
  const usualValues = guard === anyone ? maxValuesOfAnyone : defaultMaxValues;
  const { maxValues = limit > defaultBodyLimit ? Infinity : usualValues } = body ?? {};
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
      // Awaiting a value that is already there would cost a turn of the microtask queue.
      const counted = countedOf(req, res.callerKey);
      const counting = rateLimit?.count(res, counted);
      if (counting !== undefined) await counting;
      const bytes = readBytes && (await readBytes(req, res));
      const {
        params,
        query,
        body: input,
      } = validateInput(req.url ?? '', sentParams, bytes && parseJson(bytes, maxValues));
      const requests = body?.requests?.(input) ?? 1;
      if (requests > 1) rateLimit?.add(res, counted, requests - 1);
      const answer = await route.handle({ caller, params, query, body: input, req, res });
      if (!res.headersSent)
        sendAnswer(req, res, route, answer, (length) => {
          const more = Math.ceil(length / bytesPerRequest) - requests;
          if (more > 0) rateLimit?.add(res, counted, more);
        });
    } catch (error) {
      await countUnknown(req, error);
      const { status, code } = toProblem(error);
      // A refusal by overload must not wait in the queue once more, and a failure not long for a database that hangs.
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
