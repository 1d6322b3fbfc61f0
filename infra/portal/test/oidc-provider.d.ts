/** What the tests use of oidc-provider, which has no types of its own. */
declare module 'oidc-provider' {
  import type { Server } from 'node:http';

  interface Context {
    oidc: { params: { grant_type: string } };
  }
  export class Provider {
    constructor(issuer: string, configuration: object);
    listen(port: number, host: string): Server;
    on(event: 'grant.success', listener: (context: Context) => void): this;
  }
}
