import createClient, { type Client } from 'openapi-fetch';
import type { Credential } from './credentials.ts';

/** The client of one service: `GET`, `POST`, … accept the paths of its OpenAPI document. */
export type ServiceClient<Paths extends object> = Client<Paths>;

/** Creates the client of a service. */
export type CreateClient<Paths extends object> = (
  url: string,
  ...credentials: Credential[]
) => ServiceClient<Paths>;

/**
 * What creates the clients of a service whose paths begin with `basePath`.
 * `url` is the address of the gateway, or of the service itself: both have the same paths. Redirects are not followed,
 * because a credential must not be sent to another host.
 */
export const clientOf =
  <Paths extends object>(basePath: string): CreateClient<Paths> =>
  (url, ...credentials) => {
    const client = createClient<Paths>({ baseUrl: new URL(basePath, url).href, redirect: 'manual' });
    client.use(...credentials);
    return client;
  };
