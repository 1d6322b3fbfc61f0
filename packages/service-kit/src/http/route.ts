import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import type { z } from 'zod';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** An OpenAPI 3.0 Security Scheme Object. */
export type SecurityScheme =
  | { type: 'http'; scheme: string; bearerFormat?: string; description?: string }
  | { type: 'apiKey'; in: 'header' | 'cookie'; name: string; description?: string };

/** Who may call: recognises the caller of a request, and says so in the OpenAPI document. */
export interface Guard<Caller> {
  /** Alternatives; each maps a scheme's name to the scopes that are needed. Empty: no credential. */
  security: Record<string, string[]>[];
  schemes: Record<string, SecurityScheme>;
  /** Throws Unauthorized or InsufficientScope. */
  identify(req: IncomingMessage): Caller | Promise<Caller>;
  /**
   * Whether process memory knows the credential to have been valid lately. Such a caller is not refused for what
   * others of its network have tried: providers send the webhooks of all stores from a few addresses.
   */
  wasValid?(req: IncomingMessage): boolean;
  /** Whose rate limit the call counts against. */
  keyOf(caller: Caller): string | undefined;
}

/** No credential is looked at. */
export const anyone: Guard<undefined> = {
  security: [],
  schemes: {},
  identify: () => undefined,
  keyOf: () => undefined,
};

/** The request headers in which a guard looks for a credential, as a Vary value; undefined for none. */
export const credentialHeaders = ({ schemes }: Guard<unknown>): string | undefined => {
  const names = Object.values(schemes).map((scheme) => {
    if (scheme.type === 'http') return 'Authorization';
    return scheme.in === 'cookie' ? 'Cookie' : scheme.name;
  });
  return names.length === 0 ? undefined : [...new Set(names)].join(', ');
};

export interface ResponseSpec {
  description: string;
  /** Shape of the JSON body; left out where there is none. */
  body?: z.ZodType;
  /** `application/json` unless said otherwise. */
  mediaType?: string;
  /** Header name → what it says. */
  headers?: Record<string, string>;
}

type Responses = Record<number, ResponseSpec>;

/** What a handler gives back: `body` is serialised, `json` is sent as it is (already serialised). */
export type Answer<R extends Responses> = {
  [S in keyof R & number]: AnswerOf<S, R[S]['body']>;
}[keyof R & number];

type AnswerOf<Status, Body> = Body extends z.ZodType
  ? Answered<Status, z.input<Body>> | Written<Status>
  : Empty<Status> | Written<Status>;

interface Empty<Status> {
  status: Status;
  headers?: Record<string, string>;
  body?: undefined;
  json?: undefined;
}

interface Answered<Status, Body> {
  status: Status;
  headers?: Record<string, string>;
  body: Body;
  json?: undefined;
}

interface Written<Status> {
  status: Status;
  headers?: Record<string, string>;
  body?: undefined;
  json: string | Buffer;
}

export interface BodySpec<S extends z.ZodType = z.ZodType> {
  schema: S;
  /** Media types that are taken; `application/json` unless said otherwise. */
  types?: readonly string[];
  /** Shape of a form body, for the document, where it differs from `schema`. */
  form?: z.ZodType;
  /** In bytes; 100 kB unless said otherwise. */
  limit?: number;
  /** The handler reads the request itself, where the bytes count; the schema is for the document. */
  raw?: true;
}

type Out<S> = S extends z.ZodType ? z.output<S> : undefined;

export interface RouteInput<Caller, P, Q, B> {
  caller: Caller;
  params: Out<P>;
  query: Out<Q>;
  body: Out<B>;
  req: Request;
  res: Response;
}

interface Operation {
  method: Method;
  /** OpenAPI style: `/tasks/{id}`. */
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  params?: z.ZodObject | undefined;
  query?: z.ZodObject | undefined;
  /** Parameter names are matched without regard to case. */
  anyCaseQuery?: boolean;
  /** Request headers that matter, for the document only: name → what it does. */
  headers?: Record<string, string>;
  responses: Responses;
  /** Not counted against the caller's rate limit. */
  unlimited?: true;
  /** Statuses of the problems this operation has beyond those its shape implies (400, 401, 403, 413, 415). */
  problems?: readonly number[];
}

/** A route with its types forgotten: what Express and the OpenAPI document read. */
export interface Route extends Operation {
  caller: Guard<unknown>;
  body?: BodySpec | undefined;
  /** Matched before Express is entered. */
  fast?: true | undefined;
  handle(input: {
    caller: unknown;
    params: unknown;
    query: unknown;
    body: unknown;
    req: Request;
    res: Response;
  }): ErasedAnswer | Promise<ErasedAnswer>;
}

export interface ErasedAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  json?: string | Buffer | undefined;
}

interface Definition<Caller, P, Q, B, R extends Responses> extends Operation {
  caller: Guard<Caller>;
  params?: P & (z.ZodObject | undefined);
  query?: Q & (z.ZodObject | undefined);
  body?: B extends z.ZodType ? BodySpec<B> : undefined;
  responses: R;
}

/**
 * One operation as one value: Express dispatches it, the OpenAPI document describes it, and the
 * types of its handler follow from its schemas. (The handler stands apart because TypeScript infers
 * the schemas first that way.)
 */
export const route = <
  Caller,
  R extends Responses,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  definition: Definition<Caller, P, Q, B, R>,
  handle: (input: RouteInput<Caller, P, Q, B>) => Answer<NoInfer<R>> | Promise<Answer<NoInfer<R>>>,
): Route => ({ ...definition, handle });

interface FastInput<Caller, P, Q> {
  caller: Caller;
  params: Out<P>;
  query: Out<Q>;
  req: IncomingMessage;
  res: ServerResponse;
}

/**
 * As `route`, for an address so hot that Express's way to it costs as much as the work itself
 * (docs/adr/0009). The same pipeline runs; only Express's router is skipped, so guard and handler see
 * Node's own request. A body must be `raw`: the handler reads it with `readBody`.
 */
export const fastRoute = <
  Caller,
  R extends Responses,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
>(
  definition: Omit<Definition<Caller, P, Q, undefined, R>, 'body'> & { body?: BodySpec & { raw: true } },
  handle: (input: FastInput<Caller, P, Q>) => Answer<NoInfer<R>> | Promise<Answer<NoInfer<R>>>,
): Route => ({ ...definition, fast: true, handle: handle as Route['handle'] });
