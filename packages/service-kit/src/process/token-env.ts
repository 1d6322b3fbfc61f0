import { z } from 'zod';

/** Signatures with a pair of keys (RFC 7518, RFC 8037). A service knows the public key only, so nothing else can be trusted. */
const isAsymmetric = (name: string): boolean => /^(?:EdDSA|Ed25519|[ERP]S(?:256|384|512))$/.test(name);

const RoleMapping = z.strictObject({
  claim: z.string().min(1),
  scopes: z
    .record(
      z.string(),
      z.string().regex(/^[\w-]+:[\w-]+(?: [\w-]+:[\w-]+)*$/, 'must be scopes, separated by spaces'),
    )
    .transform((scopes) => new Map(Object.entries(scopes))),
});

const parseJson = (text: string, context: z.RefinementCtx): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    context.addIssue('is not JSON');
    return z.NEVER;
  }
};

/** Settings of access tokens; a service that accepts them spreads these into its schema. */
export const tokenEnv = {
  /** URL of an OIDC provider's JWKS, or a file. */
  AUTH_JWKS: z.string().min(1),
  AUTH_ISSUER: z.string().min(1),
  AUTH_AUDIENCE: z.string().min(1),
  /** What the issuer signs with, comma separated: a token with another algorithm is refused. */
  AUTH_ALGORITHMS: z
    .string()
    .default('EdDSA')
    .transform((text) => text.split(','))
    .refine((names) => names.every(isAsymmetric), 'must be algorithms with a pair of keys: RS256,ES256'),
  /**
   * Where scopes come from a claim with roles: `{"claim":"groups","scopes":{"support":"stores:read events:read"}}`. The
   * claim `scope` does not count then: what an application may ask for is not what its user may do.
   */
  AUTH_ROLES: z.string().transform(parseJson).pipe(RoleMapping).optional(),
};

/** The same as options of `createTokenVerifier`. */
export const tokenOptions = (env: z.output<z.ZodObject<typeof tokenEnv>>) => ({
  jwks: env.AUTH_JWKS,
  issuer: env.AUTH_ISSUER,
  audience: env.AUTH_AUDIENCE,
  algorithms: env.AUTH_ALGORITHMS,
  roles: env.AUTH_ROLES,
});
