/** Why the database could not do something now that it may well do on another try. */
export type TransientFault = 'unavailable' | 'timeout' | 'conflict';

/**
 * SQLSTATE classes and codes that mean "not now" (PostgreSQL documentation, appendix A), and the
 * codes that postgres.js and Node give an error of the connection itself.
 */
const faults: [TransientFault, RegExp][] = [
  // 08 connection, 53 resources used up, 57P0x shutdown or start, 55000 the database accepts no
  // connections, 55P03 a lock was not available.
  ['unavailable', /^(?:08...|53...|57P0.|55000|55P03)$/],
  [
    'unavailable',
    /^(?:ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|CONNECT_TIMEOUT|CONNECTION_(?:CLOSED|ENDED|DESTROYED))$/,
  ],
  // Node found no free file descriptor, so it could open no connection.
  ['unavailable', /^(?:EMFILE|ENFILE)$/],
  // 57014 statement_timeout, 25P03 idle in transaction, 25P04 transaction_timeout.
  ['timeout', /^(?:57014|25P03|25P04)$/],
  // 40 serialization failure, deadlock and other rollbacks.
  ['conflict', /^40...$/],
];

const maxCauses = 5;

/**
 * Classifies an error that a query threw, or its cause (drizzle wraps what postgres.js throws);
 * undefined when trying again would not help. `conflict` is worth a retry at once, the others after
 * a pause. Over HTTP all three are 503 with Retry-After (`toProblem`).
 */
export const transientFault = (error: unknown): TransientFault | undefined => {
  let current = error;
  for (let depth = 0; depth < maxCauses && typeof current === 'object' && current !== null; depth++) {
    const { code, cause } = current as { code?: unknown; cause?: unknown };
    const found = typeof code === 'string' ? faults.find(([, pattern]) => pattern.test(code)) : undefined;
    if (found !== undefined) return found[0];
    current = cause;
  }
  return undefined;
};
