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

/** Who may call: recognises the caller of a request and describes the credential in the OpenAPI document. */
export interface Guard<Caller> {
  /** Alternatives; each maps a scheme's name to the scopes that are needed. Empty: no credential. */
  security: Record<string, string[]>[];
  schemes: Record<string, SecurityScheme>;
  /**
   * Throws Unauthorized or InsufficientScope. A credential that this process accepted within the last minute is looked up
   * without asking `limit`, so that the guesses of others in the same network refuse no valid caller.
   */
  identify(req: IncomingMessage, limit: LookupLimit): Caller | Promise<Caller>;
  /** Key of the caller's rate limit; undefined to count against the network. */
  keyOf(caller: Caller): string | undefined;
}

/** Everybody; no credential is read. */
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
  /** Shape of the JSON body, or of a line of NDJSON; undefined for none. */
  body?: z.ZodType;
  /** `application/json` unless said otherwise. */
  mediaType?: string;
  /** What the caller may ask for instead: media type → shape. */
  otherTypes?: Record<string, z.ZodType>;
  /** Header name → description. */
  headers?: Record<string, string>;
}

type Responses = Record<number, ResponseSpec>;

/** What a handler returns: `body` is shaped by its schema and serialised, `rawBody` is sent as it is. */
export type Answer<R extends Responses> = {
  [S in keyof R & number]: { status: S; headers?: Record<string, string> } & Content<R[S]['body']>;
}[keyof R & number];

type Content<Body> =
  | { rawBody: string | Buffer; body?: undefined }
  | (Body extends z.ZodType
      ? { body: z.input<Body>; rawBody?: undefined }
      : { body?: undefined; rawBody?: undefined });

export interface BodySpec<S extends z.ZodType = z.ZodType> {
  /** Shape of the JSON body, or of a line of NDJSON or CSV. */
  schema: S;
  /**
   * A body that is accepted, for the OpenAPI document, the portal and the exercise. A value that can be used only once
   * begins with `my-`; the portal completes it with something new.
   */
  example?: z.input<NoInfer<S>>;
  /** Accepted media types; `application/json` unless said otherwise. */
  types?: readonly string[];
  /** Shape of a form body, for the document, where it differs from `schema`. */
  form?: z.ZodType;
  /** In bytes; 100 kB unless said otherwise. */
  limit?: number;
  /** Of fields and elements together; 4,000, or 1,000 where anybody may call, unless `limit` is larger than usual. */
  maxValues?: number;
  /** As how many requests it counts against the limit of the caller; one unless said otherwise. */
  requests?(body: z.output<NoInfer<S>>): number;
  /** The handler reads the request itself, where the bytes count; the schema is for the document. */
  raw?: true;
}

/** Since when an operation is deprecated, and when it ends. */
export interface Deprecation {
  since: Date;
  sunset: Date;
}

interface Operation {
  method: Method;
  /** OpenAPI style: `/tasks/{id}`. */
  path: string;
  /** Path that its address starts with, where that is not the one of the service. */
  basePath?: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string;
  params?: z.ZodObject | undefined;
  query?: z.ZodObject | undefined;
  /** Parameter names are matched without regard to case. */
  anyCaseQuery?: boolean;
  /** Request headers that matter, for the document only: name → description. */
  headers?: Record<string, string>;
  responses: Responses;
  /** The operation will be removed: every answer says so (headers of RFC 9745 and RFC 8594), and the document does. */
  deprecated?: Deprecation;
  /** Not counted against the caller's rate limit. */
  skipRateLimit?: true;
  /** False where a request that succeeds needs no log line: what it did is recorded elsewhere, or it is a probe. */
  logSuccess?: false;
  /**
   * For an address so hot that Express's way to it costs as much as the work itself (docs/adr/0009): it is matched before
   * Express is entered. The same pipeline runs. A body must be `raw`: the handler reads it from the request.
   */
  fast?: boolean | undefined;
  /**
   * The handler itself finds out whether the credential was revoked, in the statement that reads its answer, and throws
   * Unauthorized (docs/adr/0107). Whatever else is wrong with a request, a revoked credential is 401; only what a
   * limit or overload refuses is answered without asking, and a failed database is asked for at most half a second.
   */
  confirmsCaller?: boolean | undefined;
  /** Statuses of the problems this operation has beyond those its shape implies (400, 401, 403, 413, 415). */
  problems?: readonly number[];
}

interface Input<Caller = unknown, Params = unknown, Query = unknown, Body = unknown> {
  caller: Caller;
  params: Params;
  query: Query;
  body: Body;
  req: IncomingMessage;
  res: ServerResponse;
}

/** An answer whose types are not known any more. */
export interface AnyAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  rawBody?: string | Buffer | undefined;
}

/** A route whose types are not known any more: what the pipeline and the OpenAPI document read. */
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
 * One operation as one value: Express dispatches it, the OpenAPI document describes it, and the types of its handler
 * follow from its schemas. (The handler is a separate argument, because TypeScript then infers the schemas first.)
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
