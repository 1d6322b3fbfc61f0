/** The parts of oidc-provider that the tests use; it ships no types. */
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
