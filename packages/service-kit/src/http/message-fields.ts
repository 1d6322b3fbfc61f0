export {};

/** What the kit puts on a response: properties, because a WeakMap of requests costs a microsecond each. */
declare module 'http' {
  interface ServerResponse {
    /** Template of the route that answers: what logs, metrics and traces call it. Undefined for system routes. */
    template?: string | undefined;
    /** False where a request that succeeds writes no line. */
    logSuccess?: false | undefined;
    /** `code` of the problem that was answered, for the log. */
    problemCode?: string | undefined;
    /** Request headers that hold the credential of this route (`Vary`); undefined where none is read. */
    varyOn?: string | undefined;
    /** RateLimit headers: name, value, name, value. */
    limitHeaders?: readonly string[];
    /** Headers of a deprecated route: name, value, name, value. */
    deprecationHeaders?: readonly string[] | undefined;
    /** CORS headers (name, value …); undefined where no origin is allowed, empty for an origin that is not. */
    corsHeaders?: readonly string[] | undefined;
    /** Bytes of the request's body that have arrived and were not given back to the budget. */
    bodyBytes?: number;
    /** Key of the caller's rate limit, once the caller is known; undefined for none. */
    callerKey?: string | undefined;
    /** For whom they count in the budget, until the answer is written or the client has gone away. */
    bodyHolders?: readonly string[] | undefined;
  }
}
