import type { Request, Response } from 'express';
import type { z } from 'zod';
import { jsonBody } from './body.ts';
import { collectIssues } from './field-errors.ts';
import { ValidationFailed, type FieldErrors } from './problem.ts';
import { parseQuery, spellingOf } from './query.ts';
import { headersOf, setFixedHeaders } from './security-headers.ts';
import type { RateLimit } from './rate-limit.ts';
import type { ErasedAnswer, Route } from './route.ts';

const defaultBodyLimit = 100_000;

const check = (
  schema: z.ZodType | undefined,
  value: unknown,
  whole: string,
  errors: FieldErrors,
): unknown => {
  if (schema === undefined) {
    if (whole === 'query') {
      for (const name of Object.keys(value as object)) errors[name] = ['is not known here'];
    }
    return undefined;
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  collectIssues(errors, result.error.issues, whole);
  return undefined;
};

/**
 * Writes a handler's answer. A `body` is shaped by the schema of its status, so that a field nobody
 * declared never leaves the service; `json` is trusted as it is.
 */
const send = (req: Request, res: Response, { responses }: Route, answer: ErasedAnswer): void => {
  const shape = responses[answer.status]?.body;
  const payload = answer.json ?? (shape && JSON.stringify(shape.parse(answer.body)));
  const headers: Record<string, string | number> = { ...answer.headers };
  if (payload !== undefined) {
    headers['Content-Type'] ??= 'application/json; charset=utf-8';
    headers['Content-Length'] = Buffer.byteLength(payload);
  }
  res.writeHead(answer.status, headersOf(req, headers));
  res.end(payload);
};

/**
 * Turns a route into a handler: caller, rate limit, body, validation, handler, answer.
 * The caller comes first, so that nobody unknown makes us read a body. `template` is what logs and
 * metrics call the route.
 */
export const runRoute = (
  route: Route,
  template: string,
  rateLimit: RateLimit | undefined,
): ((req: Request, res: Response) => Promise<void>) => {
  const readBody =
    route.body &&
    !route.body.raw &&
    jsonBody(route.body.types ?? ['application/json'], route.body.limit ?? defaultBodyLimit);
  const spelling = route.anyCaseQuery && route.query ? spellingOf(Object.keys(route.query.shape)) : undefined;

  // Most requests have no query, and what that means never changes.
  const noQuery = route.query?.safeParse({});
  const checkQuery = (target: string, errors: FieldErrors): unknown =>
    noQuery?.success && !target.includes('?')
      ? noQuery.data
      : check(route.query, parseQuery(target, spelling), 'query', errors);

  const { caller: guard } = route;
  const limit = route.unlimited ? undefined : rateLimit;

  const identifyAndCount = async (req: Request, res: Response, count: RateLimit): Promise<unknown> => {
    let caller: unknown;
    try {
      caller = await guard.identify(req);
    } catch (error) {
      await count(req, res, undefined);
      throw error;
    }
    await count(req, res, guard.keyOf(caller));
    return caller;
  };

  return async (req, res) => {
    res.template = template;
    const caller = await (limit ? identifyAndCount(req, res, limit) : guard.identify(req));
    // Without a prototype: a client may well send a field called __proto__.
    const errors: FieldErrors = Object.create(null);
    const params = check(route.params, req.params, 'path', errors);
    const query = checkQuery(req.url, errors);
    const body = readBody && check(route.body?.schema, await readBody(req, res), 'body', errors);
    for (const _ in errors) throw new ValidationFailed(errors);
    if (route.body?.raw) setFixedHeaders(req, res);
    const answer = await route.handle({ caller, params, query, body, req, res });
    if (!res.headersSent) send(req, res, route, answer);
  };
};
