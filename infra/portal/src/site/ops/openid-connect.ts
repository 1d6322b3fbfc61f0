import type { GatewaySettings } from '@platform/gateway/options';
import type { TokenEndpointResponse } from 'oauth4webapi';
import { withStorage } from '../storage.ts';
import { Refused, isAbort, type Account } from './session.ts';
import { replaceAddress } from './place.ts';

/** The organisation's OpenID provider, from the settings of the gateway. */
export type Provider = NonNullable<GatewaySettings['signIn']>;

/** Reads the provider; null if users sign in only with access tokens. */
export const readProvider = async (): Promise<Provider | null> => {
  // If the request fails, users can still sign in with a token.
  const response = await fetch('/docs/ops/sign-in.json', { credentials: 'omit' }).catch(() => undefined);
  return response?.ok ? ((await response.json()) as Provider | null) : null;
};

/** The address to which the provider redirects; it must be registered there exactly like this. */
const redirectUri = (): string => `${location.origin}/docs/ops/`;

/** Time-out of a request to the provider. It is long, because a refresh token may be used up even if the response is lost. */
const timeoutMs = 30_000;

/** Converts an error of the provider to an error that the page shows. */
const failureOf = (error: unknown): unknown => {
  if (isAbort(error) || error instanceof Refused) return error;
  if (error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError'))
    return new Refused(503, { detail: 'The identity provider cannot be reached.' });
  const { error: code, error_description: text, message } = error as Record<string, string>;
  return new Refused(400, {
    detail: `The identity provider refused the sign-in: ${text ?? code ?? message}`,
  });
};

/** Reads the metadata of the provider. The library is loaded here, because most visits do not need it. */
const connect = async (provider: Provider, signal: AbortSignal) => {
  const oauth = await import('oauth4webapi');
  const issuer = new URL(provider.issuer);
  /** Settings of a request. The gateway's options allow http only for the local machine. */
  const request = (abort = signal) => ({
    signal: AbortSignal.any([abort, AbortSignal.timeout(timeoutMs)]),
    [oauth.allowInsecureRequests]: issuer.protocol === 'http:',
    additionalParameters: provider.resource === undefined ? {} : { resource: provider.resource },
  });
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, request()),
  );
  // Tolerates a wrong clock on this computer; the ID token comes directly from the provider.
  const client = { client_id: provider.clientId, [oauth.clockTolerance]: 300 };
  /** A page of the provider to which the browser navigates. @throws if the address is not a web address */
  const pageOf = (address: string | undefined, parameters: Record<string, string>): URL => {
    const url = new URL(address ?? '');
    oauth.checkProtocol(url, issuer.protocol === 'https:');
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url;
  };
  return { oauth, server, client, request, pageOf };
};

type Connection = Awaited<ReturnType<typeof connect>>;

/** Data of a running sign-in, stored in the tab until the provider redirects back. It contains no token. */
interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
  /** The view to continue with, as the fragment of the address. */
  hash: string;
}

const key = 'sign-in';

/** The response of the provider in the address. */
export interface ProviderResponse {
  parameters: URLSearchParams;
  /** Undefined if this tab has no pending sign-in. */
  pending: PendingSignIn | undefined;
}

const takePendingSignIn = (): PendingSignIn | undefined =>
  withStorage('sessionStorage', (storage) => {
    const text = storage.getItem(key);
    storage.removeItem(key);
    return text === null ? undefined : (JSON.parse(text) as PendingSignIn);
  });

/** Reads the response of the provider and removes it from the address and the history. Also removes an unfinished sign-in. */
export const takeProviderResponse = (): ProviderResponse | undefined => {
  const pending = takePendingSignIn();
  const { searchParams: parameters } = new URL(location.href);
  if (!parameters.has('state')) return undefined;
  replaceAddress(pending?.hash ?? '');
  return { parameters, pending };
};

/** Redirects to the provider (authorisation code flow with PKCE). */
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
    const pending: PendingSignIn = { state, nonce, verifier, hash: location.hash };
    sessionStorage.setItem(key, JSON.stringify(pending));
    location.assign(page);
  } catch (error) {
    throw failureOf(error);
  }
};

/** Creates an account. Its tokens are only in this closure, and are renewed when a request needs one. */
const openAccount = (connection: Connection, first: TokenEndpointResponse): Account => {
  const { oauth, server, client, request, pageOf } = connection;
  const idClaims = oauth.getValidatedIdTokenClaims(first);
  const tokenState = (received: TokenEndpointResponse, refresh?: string) => {
    const lifeMs = (received.expires_in ?? Infinity) * 1000;
    return {
      access: received.access_token,
      refresh: received.refresh_token ?? refresh,
      renewAt: Date.now() + lifeMs * 0.75,
      endsAt: Date.now() + lifeMs,
    };
  };
  let tokens = tokenState(first);
  let renewal: Promise<void> | undefined;

  const renew = async (refresh: string): Promise<void> => {
    try {
      const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refresh, request());
      const received = await oauth.processRefreshTokenResponse(server, client, response);
      const { sub } = oauth.getValidatedIdTokenClaims(received) ?? {};
      if (sub !== undefined && sub !== idClaims?.sub)
        throw new Refused(401, { detail: 'The identity provider returned tokens of another user.' });
      tokens = tokenState(received, refresh);
    } catch (error) {
      const isRefused =
        error instanceof oauth.ResponseBodyError && error.status < 500 && error.status !== 429;
      // The current token can be used until it expires. A temporary error is retried soon.
      tokens.renewAt = isRefused ? tokens.endsAt : Date.now() + 5_000;
      throw isRefused
        ? new Refused(401, { detail: 'Your session at the identity provider has ended.' })
        : failureOf(error);
    }
  };
  const names = [idClaims?.['preferred_username'], idClaims?.['email'], idClaims?.sub];
  return {
    subject: names.find((name) => typeof name === 'string') ?? 'unknown user',
    expiresAt:
      tokens.refresh === undefined && Number.isFinite(tokens.endsAt) ? new Date(tokens.endsAt) : undefined,
    token: async () => {
      const { refresh, renewAt, endsAt } = tokens;
      if (refresh === undefined || Date.now() < Math.min(renewAt, endsAt)) return tokens.access;
      renewal ??= renew(refresh).finally(() => (renewal = undefined));
      // Requests wait only if there is no valid token.
      if (Date.now() >= endsAt) await renewal;
      // If the renewal fails, a later request without a valid token reports the error.
      else renewal.catch(() => undefined);
      return tokens.access;
    },
    end: async (abort) => {
      const { refresh = tokens.access } = tokens;
      // Signing out continues even if the revocation fails.
      await oauth
        .revocationRequest(server, client, oauth.None(), refresh, request(abort))
        .catch(() => undefined);
      if (server.end_session_endpoint === undefined || abort.aborted) return;
      const page = pageOf(server.end_session_endpoint, {
        client_id: client.client_id,
        post_logout_redirect_uri: redirectUri(),
        ...(first.id_token !== undefined && { id_token_hint: first.id_token }),
      });
      location.assign(page);
    },
  };
};

/** Validates the response of the provider and exchanges it for tokens. */
export const finishSignIn = async (
  provider: Provider,
  { parameters, pending }: ProviderResponse,
  signal: AbortSignal,
): Promise<Account> => {
  try {
    if (pending === undefined)
      throw new Refused(400, { detail: 'This sign-in was not started in this tab. Start it again.' });
    const connection = await connect(provider, signal);
    const { oauth, server, client, request } = connection;
    const code = oauth.validateAuthResponse(server, client, parameters, pending.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      code,
      redirectUri(),
      pending.verifier,
      request(),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: pending.nonce,
      requireIdToken: true,
    });
    return openAccount(connection, tokens);
  } catch (error) {
    throw failureOf(error);
  }
};
