import { once } from 'node:events';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { Provider } from 'oidc-provider';

/** The audience of the services. */
export const audience = 'platform';

/** Gets an access token of an application from the provider. */
const programToken = async (issuer: string, resource: string): Promise<string> => {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa('program:secret')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'use', resource }),
  });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
};

/**
 * Starts an OpenID provider (oidc-provider) with a login page. Tokens are signed with RS256 (those of programs with ES256)
 * and have the claim `groups`. Any user can log in with any password.
 */
export const startProvider = async (port: number, gateway: string) => {
  const issuer = `http://127.0.0.1:${port}`;
  const [rsa, elliptic] = await Promise.all(
    ['RS256', 'ES256'].map(async (alg) => ({
      alg,
      kid: `key-${alg}`,
      ...(await generateKeyPair(alg, { extractable: true })),
    })),
  );
  if (!rsa || !elliptic) throw new Error('there are two keys');
  const state = { groups: ['support'], isDisabled: false, refreshes: 0 };
  const page = `${gateway}/docs/ops/`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'operations',
        token_endpoint_auth_method: 'none',
        redirect_uris: [page],
        post_logout_redirect_uris: [page],
        grant_types: ['authorization_code', 'refresh_token'],
      },
      {
        client_id: 'program',
        client_secret: 'secret',
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
      },
    ],
    jwks: {
      keys: await Promise.all(
        [rsa, elliptic].map(async ({ privateKey, alg, kid }) => ({
          ...(await exportJWK(privateKey)),
          alg,
          kid,
          use: 'sig',
        })),
      ),
    },
    cookies: { keys: ['a key of the tests'] },
    pkce: { required: () => true },
    clientBasedCORS: () => true,
    issueRefreshToken: () => true,
    // The entered name becomes the account; the display name contains markup.
    findAccount: (_: unknown, id: string) =>
      state.isDisabled
        ? undefined
        : { accountId: id, claims: () => ({ sub: id, preferred_username: `${id} <b>of</b> support` }) },
    claims: { openid: ['sub', 'preferred_username'] },
    conformIdTokenClaims: false,
    extraTokenClaims: () => ({ groups: state.groups }),
    features: {
      clientCredentials: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (context: { oidc: { client: { clientId: string } } }, resource: string) => ({
          scope: 'use wallet:admin',
          audience: resource.replace('urn:', ''),
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: context.oidc.client.clientId === 'program' ? 'ES256' : 'RS256' } },
        }),
      },
    },
  });
  provider.on('grant.success', ({ oidc }) => {
    if (oidc.params.grant_type === 'refresh_token') state.refreshes += 1;
  });
  const server = provider.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    issuer,
    state,
    publicKey: rsa.publicKey,
    programToken: (resource: string) => programToken(issuer, resource),
    /** Signs a token that the provider itself would not issue. */
    sign: (claims: JWTPayload = {}, header: object = {}) =>
      new SignJWT({
        iss: issuer,
        aud: audience,
        sub: 'mallory',
        groups: ['support'],
        exp: Date.now() / 1000 + 600,
        ...claims,
      })
        .setProtectedHeader({ alg: 'RS256', kid: rsa.kid, typ: 'at+jwt', ...header })
        .sign(rsa.privateKey),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
