import type { Request, Response } from 'express';
import { z } from 'zod';
import { jsonBody } from './body.ts';
import type { ClientAddress } from './client-address.ts';
import type { FailureLimit } from './failure-limit.ts';
import { collectIssues } from './field-errors.ts';
import { networksOf } from './network.ts';
import { Problem, TooManyRequests, ValidationFailed, type FieldErrors } from './problem.ts';
import { parseQuery, spellingOf } from './query.ts';
import type { RateLimit } from './rate-limit.ts';
import { sendAnswer } from './respond.ts';
import { anyone, credentialHeaders, type Route } from './route.ts';

const defaultBodyLimit = 100_000;

/** What limits requests; part of every service's context. */
export interface Limits {
  clientAddress: ClientAddress;
  failureLimit: FailureLimit;
  /** Undefined when RATE_LIMIT is off. */
  rateLimit: RateLimit | undefined;
}

/** Handles one request of a route. Rejects with what the error handler turns into a problem. */
export type Handler = (req: Request, res: Response) => Promise<void>;

/** Where the requests of a caller are counted. */
const callerKey = (key: string): string => `k:${key}`;

/** The result of a schema that a route does not have. */
const accepted = { success: true, data: undefined, error: undefined } as const;

/** Validates path, query and body; throws ValidationFailed that names every error. */
const createValidator = ({ params, query = z.strictObject({}), body, anyCaseQuery }: Route) => {
  const spelling = anyCaseQuery ? spellingOf(Object.keys(query.shape)) : undefined;
  const bodySchema = body?.raw ? undefined : body?.schema;
  // Most requests have no query; what its schema makes of that is always the same.
  const noQuery = query.safeParse({});

  return ({ url, params: sentParams }: Request, sentBody: unknown) => {
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
  const { clientAddress, failureLimit } = limits;
  const rateLimit = skipRateLimit ? undefined : limits.rateLimit;
  /** An unknown credential counts against the network that sent it, wherever in the route it was found. */
  const countUnknown = async (req: Request, error: unknown): Promise<void> => {
    if (error instanceof Problem && error.unknownCredential !== undefined)
      await failureLimit.count(req, error.unknownCredential);
  };
  /** Counts the request against a caller, or without a key against the network. */
  const countRequest = (req: Request, res: Response, key: string | undefined): Promise<void> | undefined =>
    key === undefined
      ? rateLimit?.countNetworks(res, networksOf(clientAddress(req)))
      : rateLimit?.count(res, callerKey(key));
  return {
    countUnknown,
    countRequest,
    authenticate: async (req: Request, res: Response): Promise<unknown> => {
      try {
        return await guard.identify(req, {
          unproven: (kind) => failureLimit.check(req, kind),
          proven: (key) => rateLimit?.check(res, callerKey(key)),
        });
      } catch (error) {
        if (error instanceof TooManyRequests) throw error;
        // Before the request is counted, which may answer 429: no unknown credential may go uncounted.
        await countUnknown(req, error);
        await countRequest(req, res, undefined);
        throw error;
      }
    },
  };
};

/**
 * The order in which every request of every service is handled, through Express or the fast path. Before it, the
 * request context assigned the id and refused invalid targets; after it, the error handler answers what was thrown.
 * `template` is what logs, metrics and traces call the route.
 */
export const createHandler = (route: Route, template: string | undefined, limits: Limits): Handler => {
  const { auth: guard, body, logSuccess } = route;
  const { authenticate, countRequest, countUnknown } = createAccess(route, limits);
  const readBody =
    body && !body.raw
      ? jsonBody(body.types ?? ['application/json'], body.limit ?? defaultBodyLimit)
      : undefined;
  const validateInput = createValidator(route);
  const varyOn = credentialHeaders(guard);
  return async (req, res) => {
    res.template = template;
    res.varyOn = varyOn;
    res.logSuccess = logSuccess;
    const caller = guard === anyone ? undefined : await authenticate(req, res);
    try {
      // Awaiting a value that is already there would cost a turn of the microtask queue.
      const counting = countRequest(req, res, guard.keyOf(caller));
      if (counting !== undefined) await counting;
      const sent = readBody && (await readBody(req));
      const { params, query, body: input } = validateInput(req, sent);
      const answer = await route.handle({ caller, params, query, body: input, req, res });
      if (!res.headersSent) sendAnswer(req, res, route, answer);
    } catch (error) {
      await countUnknown(req, error);
      throw error;
    }
  };
};
