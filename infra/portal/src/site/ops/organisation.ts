import type { GatewaySettings } from '@platform/gateway/options';
import type { TokenEndpointResponse } from 'oauth4webapi';
import { withStorage } from '../storage.ts';
import { Refused, isAbort, type Account } from './session.ts';
import { replaceAddress } from './place.ts';

/** The organisation's OpenID provider, as the settings of the gateway name it. */
export type Provider = NonNullable<GatewaySettings['signIn']>;

/** The provider; null where people sign in with access tokens only. */
export const readProvider = async (): Promise<Provider | null> => {
  // Without an answer people can still sign in with a token.
  const answer = await fetch('/docs/ops/sign-in.json', { credentials: 'omit' }).catch(() => undefined);
  return answer?.ok ? ((await answer.json()) as Provider | null) : null;
};

/** Where the provider sends the browser back to; it is registered there exactly so. */
const redirectUri = (): string => `${location.origin}/docs/ops/`;

/** Of a request to the provider. Long, because a refresh token whose answer is lost may be used up. */
const limitMs = 30_000;

/** What failed at the provider, in a form that the page shows. */
const failureOf = (error: unknown): unknown => {
  if (isAbort(error) || error instanceof Refused) return error;
  if (error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError'))
    return new Refused(503, { detail: 'The identity provider cannot be reached.' });
  const { error: code, error_description: text, message } = error as Record<string, string>;
  return new Refused(400, {
    detail: `The identity provider refused the sign-in: ${text ?? code ?? message}`,
  });
};

/** Reads what the provider can do. The library is loaded here, as most visits do not need it. */
const connect = async (provider: Provider, signal: AbortSignal) => {
  const oauth = await import('oauth4webapi');
  const issuer = new URL(provider.issuer);
  /** Settings of a request. The gateway's options allow http for this machine only. */
  const request = (end = signal) => ({
    signal: AbortSignal.any([end, AbortSignal.timeout(limitMs)]),
    [oauth.allowInsecureRequests]: issuer.protocol === 'http:',
    additionalParameters: provider.resource === undefined ? {} : { resource: provider.resource },
  });
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, request()),
  );
  // The clock of this computer may be wrong, and the ID token came straight from the provider.
  const client = { client_id: provider.clientId, [oauth.clockTolerance]: 300 };
  /** An address of the provider for the browser itself. @throws when it is not that of a page */
  const pageOf = (address: string | undefined, parameters: Record<string, string>): URL => {
    const url = new URL(address ?? '');
    oauth.checkProtocol(url, issuer.protocol === 'https:');
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  };
  return { oauth, server, client, request, pageOf };
};

type Connection = Awaited<ReturnType<typeof connect>>;

/** What is kept in the tab while the browser is at the provider: no token, and only until it comes back. */
interface Started {
  state: string;
  nonce: string;
  verifier: string;
  /** The view to continue with, as the fragment of the address. */
  hash: string;
}

const key = 'sign-in';

/** What came back from the provider. */
export interface Returned {
  parameters: URLSearchParams;
  /** Undefined when this tab has begun no sign-in. */
  started: Started | undefined;
}

const takeStarted = (): Started | undefined =>
  withStorage('sessionStorage', (storage) => {
    const text = storage.getItem(key);
    storage.removeItem(key);
    return text === null ? undefined : (JSON.parse(text) as Started);
  });

/** Takes the answer of the provider out of the address and the history; also forgets a sign-in that never came back. */
export const takeReturned = (): Returned | undefined => {
  const started = takeStarted();
  const { searchParams: parameters } = new URL(location.href);
  if (!parameters.has('state')) return undefined;
  replaceAddress(started?.hash ?? '');
  return { parameters, started };
};

/** Goes to the provider (authorisation code with PKCE). */
export const goToProvider = async (provider: Provider, signal: AbortSignal): Promise<void> => {
  try {
    const { oauth, server, pageOf } = await connect(provider, signal);
    const verifier = oauth.generateRandomCodeVerifier();
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
    const page = pageOf(server.authorization_endpoint, {
      response_type: 'code',
      client_id: provider.clientId,
      redirect_uri: redirectUri(),
      scope: provider.scope,
      ...(provider.resource !== undefined && { resource: provider.resource }),
      state,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    signal.throwIfAborted();
    const started: Started = { state, nonce, verifier, hash: location.hash };
    sessionStorage.setItem(key, JSON.stringify(started));
    location.assign(page);
  } catch (error) {
    throw failureOf(error);
  }
};

/** An account with its tokens, which are only in this closure. They are renewed when a request needs one. */
const openAccount = (connection: Connection, first: TokenEndpointResponse): Account => {
  const { oauth, server, client, request, pageOf } = connection;
  const person = oauth.getValidatedIdTokenClaims(first);
  const stateOf = (received: TokenEndpointResponse, refresh?: string) => {
    const lifeMs = (received.expires_in ?? Infinity) * 1000;
    return {
      access: received.access_token,
      refresh: received.refresh_token ?? refresh,
      renewAt: Date.now() + lifeMs * 0.75,
      endsAt: Date.now() + lifeMs,
    };
  };
  let tokens = stateOf(first);
  let renewal: Promise<void> | undefined;

  const renew = async (refresh: string): Promise<void> => {
    try {
      const answer = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refresh, request());
      const received = await oauth.processRefreshTokenResponse(server, client, answer);
      const { sub } = oauth.getValidatedIdTokenClaims(received) ?? {};
      if (sub !== undefined && sub !== person?.sub)
        throw new Refused(401, { detail: 'The identity provider answered for somebody else.' });
      tokens = stateOf(received, refresh);
    } catch (error) {
      const isRefused =
        error instanceof oauth.ResponseBodyError && error.status < 500 && error.status !== 429;
      // The token that is there lasts until its end; what may succeed is tried again soon.
      tokens.renewAt = isRefused ? tokens.endsAt : Date.now() + 5_000;
      throw isRefused
        ? new Refused(401, { detail: 'Your session at the identity provider has ended.' })
        : failureOf(error);
    }
  };
  const names = [person?.['preferred_username'], person?.['email'], person?.sub];
  return {
    subject: names.find((name) => typeof name === 'string') ?? 'somebody',
    expiresAt:
      tokens.refresh === undefined && Number.isFinite(tokens.endsAt) ? new Date(tokens.endsAt) : undefined,
    token: async () => {
      const { refresh, renewAt, endsAt } = tokens;
      if (refresh === undefined || Date.now() < Math.min(renewAt, endsAt)) return tokens.access;
      renewal ??= renew(refresh).finally(() => (renewal = undefined));
      // Requests wait only when there is no valid token.
      if (Date.now() >= endsAt) await renewal;
      // When it fails, the next request finds no valid token and reports it.
      else renewal.catch(() => undefined);
      return tokens.access;
    },
    end: async (until) => {
      const { refresh = tokens.access } = tokens;
      // Signing out continues without an answer.
      await oauth
        .revocationRequest(server, client, oauth.None(), refresh, request(until))
        .catch(() => undefined);
      if (server.end_session_endpoint === undefined || until.aborted) return;
      const page = pageOf(server.end_session_endpoint, {
        client_id: client.client_id,
        post_logout_redirect_uri: redirectUri(),
        ...(first.id_token !== undefined && { id_token_hint: first.id_token }),
      });
      location.assign(page);
    },
  };
};

/** Exchanges what came back from the provider for tokens, after all of it was checked. */
export const finishSignIn = async (
  provider: Provider,
  { parameters, started }: Returned,
  signal: AbortSignal,
): Promise<Account> => {
  try {
    if (started === undefined)
      throw new Refused(400, { detail: 'This sign-in was not begun in this tab. Begin it again.' });
    const connection = await connect(provider, signal);
    const { oauth, server, client, request } = connection;
    const code = oauth.validateAuthResponse(server, client, parameters, started.state);
    const none = oauth.None();
    const [uri, { verifier }] = [redirectUri(), started];
    const sent = oauth.authorizationCodeGrantRequest(server, client, none, code, uri, verifier, request());
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, await sent, {
      expectedNonce: started.nonce,
      requireIdToken: true,
    });
    return openAccount(connection, tokens);
  } catch (error) {
    throw failureOf(error);
  }
};
