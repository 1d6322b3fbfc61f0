import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { CredentialKind } from './problem.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** An OpenAPI 3.0 Security Scheme Object. */
export type SecurityScheme =
  | { type: 'http'; scheme: string; bearerFormat?: string; description?: string }
  | { type: 'apiKey'; in: 'header' | 'cookie'; name: string; description?: string };

/** Checks that a guard calls before it looks a credential up, because each look-up costs a query. */
export interface LookupLimit {
  /**
   * Called for a credential that may be a guess. Throws TooManyRequests when its network has sent too many unknown
   * credentials of this kind.
   */
  checkGuesses(kind: CredentialKind): void;
  /**
   * Called for a credential with a valid signature. Throws TooManyRequests when its caller is over the request limit. `key`
   * is the value that `keyOf` returns for the caller.
   */
  checkCaller(key: string): void;
  /**
   * Present if the route checks revocation in its own statement (`confirmsCaller`). The guard passes its own check, which
   * throws Unauthorized for a revoked credential; it runs only if the handler fails.
   */
  deferConfirmation?(confirm: () => Promise<void>): void;
}

/** A limit that refuses no look-up. */
export const noLookupLimit: LookupLimit = { checkGuesses: () => undefined, checkCaller: () => undefined };

/** Authenticates and authorises the caller of a request, and describes the credential for the OpenAPI document. */
export interface Guard<Caller> {
  /** Alternative requirements: scheme name → required scopes. Empty: no credential is required. */
  security: Record<string, string[]>[];
  schemes: Record<string, SecurityScheme>;
  /**
   * Returns the caller. Throws Unauthorized or InsufficientScope. A credential that this process accepted within the last
   * minute is looked up without checking `limit`, so that guesses from the same network do not lock out a valid caller.
   */
  identify(req: IncomingMessage, limit: LookupLimit): Caller | Promise<Caller>;
  /** Key of the caller's rate limit; undefined if requests count for the network. */
  keyOf(caller: Caller): string | undefined;
}

/** Admits everybody; reads no credential. */
export const anyone: Guard<undefined> = {
  security: [],
  schemes: {},
  identify: () => undefined,
  keyOf: () => undefined,
};

/** The request headers from which a guard reads a credential, as a Vary value; undefined if it reads none. */
export const credentialHeaders = ({ schemes }: Guard<unknown>): string | undefined => {
  const names = Object.values(schemes).map((scheme) => {
    if (scheme.type === 'http') return 'Authorization';
    return scheme.in === 'cookie' ? 'Cookie' : scheme.name;
  });
  return names.length === 0 ? undefined : [...new Set(names)].join(', ');
};

export interface ResponseSpec {
  description: string;
  /** Schema of the JSON body or of an NDJSON line; undefined if there is no body. */
  body?: z.ZodType;
  /** Default: `application/json`. */
  mediaType?: string;
  /** Other media types that the caller may request: media type → schema. */
  otherTypes?: Record<string, z.ZodType>;
  /** Header name → description. */
  headers?: Record<string, string>;
}

type Responses = Record<number, ResponseSpec>;

/** The result of a handler: `body` is parsed by its schema and serialised, `rawBody` is sent unchanged. */
export type Answer<R extends Responses> = {
  [S in keyof R & number]: { status: S; headers?: Record<string, string> } & Content<R[S]['body']>;
}[keyof R & number];

type Content<Body> =
  | { rawBody: string | Buffer; body?: undefined }
  | (Body extends z.ZodType
      ? { body: z.input<Body>; rawBody?: undefined }
      : { body?: undefined; rawBody?: undefined });

export interface BodySpec<S extends z.ZodType = z.ZodType> {
  /** Schema of the JSON body, or of a line of NDJSON or CSV. */
  schema: S;
  /**
   * A valid body, for the OpenAPI document, the portal and the tests that exercise the document. A value that can be used only
   * once begins with `my-`; the portal appends something unique.
   */
  example?: z.input<NoInfer<S>>;
  /** Accepted media types. Default: `application/json`. */
  types?: readonly string[];
  /** Schema of a form body for the document, if it differs from `schema`. */
  form?: z.ZodType;
  /** Maximum size in bytes. Default: 100 kB. */
  limit?: number;
  /** Maximum number of fields and elements. Default: 4,000, or 1,000 without authentication; unlimited if `limit` is set higher. */
  maxValues?: number;
  /** Number of requests that the body counts as in the rate limit. Default: 1. */
  requests?(body: z.output<NoInfer<S>>): number;
  /** The handler reads the bytes of the body itself; the schema is only for the document. */
  raw?: true;
}

/** When an operation became deprecated, and when it will be removed. */
export interface Deprecation {
  since: Date;
  sunset: Date;
}

interface Operation {
  method: Method;
  /** OpenAPI style: `/tasks/{id}`. */
  path: string;
  /** Prefix of the path, if it differs from that of the service. */
  basePath?: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  params?: z.ZodObject | undefined;
  query?: z.ZodObject | undefined;
  /** Query parameter names are case-insensitive. */
  anyCaseQuery?: boolean;
  /** Request headers, for the document only: name → description. */
  headers?: Record<string, string>;
  responses: Responses;
  /** The operation will be removed. Every response (headers of RFC 9745 and RFC 8594) and the document say so. */
  deprecated?: Deprecation;
  /** Not counted against the caller's rate limit. */
  skipRateLimit?: true;
  /** False: successful requests are not logged, because they are recorded elsewhere or are probes. */
  logSuccess?: false;
  /**
   * For a hot path where routing by Express would cost as much as the work itself (docs/adr/0009): the route is matched before
   * Express. The same pipeline runs. A body must be `raw`: the handler reads it from the request.
   */
  fast?: boolean | undefined;
  /**
   * The handler checks whether the credential was revoked in the same statement that reads its data, and throws Unauthorized
   * (docs/adr/0107). If the handler fails otherwise, the guard checks it, because a revoked credential always gets 401. There
   * is no check after a refusal by a limit or overload, and after a failure it takes at most half a second.
   */
  confirmsCaller?: boolean | undefined;
  /** Further problem statuses of the operation. Those implied by its declaration (400, 401, 403, 413, 415) are not listed. */
  problems?: readonly number[];
}

interface Input<Caller = unknown, Params = unknown, Query = unknown, Body = unknown> {
  caller: Caller;
  params: Params;
  query: Query;
  body: Body;
  req: IncomingMessage;
  res: ServerResponse;
  /** Counts the request as at least this number of requests in the rate limit, because its work is large. Refuses only later requests. */
  countAs(requests: number): void;
}

/** An answer without its types. */
export interface AnyAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  rawBody?: string | Buffer | undefined;
}

/** A route without its types, as the pipeline and the OpenAPI document use it. */
export interface Route extends Operation {
  auth: Guard<unknown>;
  body?: BodySpec | undefined;
  handle(input: Input): AnyAnswer | Promise<AnyAnswer>;
}

interface Definition<Caller, P, Q, B, R extends Responses> extends Operation {
  auth: Guard<Caller>;
  params?: P & (z.ZodObject | undefined);
  query?: Q & (z.ZodObject | undefined);
  body?: B extends z.ZodType ? BodySpec<B> : undefined;
  responses: R;
}

type Out<S> = S extends z.ZodType ? z.output<S> : undefined;
type Handle<In, R extends Responses> = (input: In) => Answer<NoInfer<R>> | Promise<Answer<NoInfer<R>>>;

/**
 * Defines an operation as one value that Express dispatches and the OpenAPI document describes. The schemas determine the types
 * of the handler, which is a separate argument so that TypeScript infers the schemas first.
 */
export const route = <
  Caller,
  R extends Responses,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  definition: Definition<Caller, P, Q, B, R>,
  handle: Handle<Input<Caller, Out<P>, Out<Q>, Out<B>>, R>,
): Route => ({ ...definition, handle });
