import { z } from 'zod';

/** Whether an algorithm signs with a key pair (RFC 7518, RFC 8037). A service has only the public key, so it accepts no other. */
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

/** Settings of access tokens. A service that accepts tokens spreads them into its schema. */
export const tokenEnv = {
  /** URL of an OIDC provider's JWKS, or the path of a file with it. */
  AUTH_JWKS: z.string().min(1),
  AUTH_ISSUER: z.string().min(1),
  AUTH_AUDIENCE: z.string().min(1),
  /** Algorithms that the issuer signs with, comma separated. A token with another algorithm is refused. */
  AUTH_ALGORITHMS: z
    .string()
    .default('EdDSA')
    .transform((text) => text.split(','))
    .refine((names) => names.every(isAsymmetric), 'must be algorithms with a key pair, such as RS256,ES256'),
  /**
   * Takes the scopes from a claim with roles: `{"claim":"groups","scopes":{"support":"stores:read events:read"}}`. The claim
   * `scope` is then ignored, because it says what the application may ask for, not what its user may do.
   */
  AUTH_ROLES: z.string().transform(parseJson).pipe(RoleMapping).optional(),
};

/** These settings as options of `createTokenVerifier`. */
export const tokenOptions = (env: z.output<z.ZodObject<typeof tokenEnv>>) => ({
  jwks: env.AUTH_JWKS,
  issuer: env.AUTH_ISSUER,
  audience: env.AUTH_AUDIENCE,
  algorithms: env.AUTH_ALGORITHMS,
  roles: env.AUTH_ROLES,
});
