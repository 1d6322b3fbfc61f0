import type { RequestListener } from 'node:http';
import type { Request, Response } from 'express';
import { createHandler, type Handler, type Limits } from './pipeline.ts';
import type { RequestContext } from './request-context.ts';
import type { ErrorHandler } from './respond.ts';
import type { Route } from './route.ts';

/** Matches targets without escapes; everything else about an address is left to Express. */
const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/?#%]+)')}(?:\\?|$)`);

interface FastPathOptions {
  basePath: string;
  limits: Limits;
  requestContext: RequestContext;
  handleError: ErrorHandler;
  /** Express: takes every request that is not for a fast route. */
  next: RequestListener;
}

/**
 * Matches fast routes before Express is entered and runs the same pipeline for them (docs/adr/0009).
 * Express has these routes too: for HEAD, OPTIONS, other methods and other spellings of the address.
 */
export const createFastPath = (routes: readonly Route[], options: FastPathOptions): RequestListener => {
  const { basePath, limits, requestContext, handleError, next } = options;
  const table = routes.map((route) => {
    const template = basePath + route.path;
    return {
      method: route.method.toUpperCase(),
      prefix: template.split('{', 1)[0] ?? template,
      pattern: patternOf(template),
      handle: createHandler(route, template, limits),
    };
  });
  if (table.length === 0) return next;

  const run = (req: Request, res: Response, handle: Handler, params: object): void => {
    try {
      requestContext(req, res);
      req.params = params as Request['params'];
      handle(req, res).catch((error: unknown) => handleError(error, req, res));
    } catch (error) {
      handleError(error, req, res);
    }
  };
  return (req, res) => {
    const { method: sent, url = '' } = req;
    for (const { method, prefix, pattern, handle } of table) {
      const match = sent === method && url.startsWith(prefix) ? pattern.exec(url) : null;
      if (match === null) continue;
      // Guards and handlers see only what Node's own request has.
      run(req as Request, res as Response, handle, match.groups ?? {});
      return;
    }
    next(req, res);
  };
};
