/** Reason for a database error after which a retry may succeed. */
export type TransientFault = 'lost' | 'unavailable' | 'timeout' | 'conflict';

/** The connection was lost or could not be opened: 08, 57P0x shutdown or start, 53300 too many connections. */
const disconnection = /^(?:08...|53300|57P0.|CONNECT_TIMEOUT|CONNECTION_(?:CLOSED|ENDED|DESTROYED))$/;

/** SQLSTATE codes of temporary errors (PostgreSQL documentation, appendix A), and connection error codes of postgres.js. */
const faults: [TransientFault, RegExp][] = [
  // The connection broke after the statement was sent, so a commit may have happened.
  ['lost', /^(?:08...|57P0[12]|CONNECTION_(?:CLOSED|DESTROYED))$/],
  ['unavailable', disconnection],
  // 53 out of resources, 55000 the database accepts no connections, 55P03 a lock was not available.
  ['unavailable', /^(?:53...|55000|55P03)$/],
  // 57014 statement_timeout, 25P03 idle in transaction, 25P04 transaction_timeout.
  ['timeout', /^(?:57014|25P03|25P04)$/],
  // 40 serialization failure, deadlock and other rollbacks.
  ['conflict', /^40...$/],
];

/** Node.js codes for a connection that could not be opened, or broke. The last two mean that no file descriptor was free. */
const socketFault =
  /^(?:ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EMFILE|ENFILE)$/;

/** Node.js codes for a server certificate that is untrusted, invalid, or for another host. */
export const certificateCode =
  /^(?:ERR_TLS_CERT_ALTNAME_INVALID|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_)/;

const isOfConnection = (code: string): boolean => socketFault.test(code) || certificateCode.test(code);

const maxCauses = 5;

/** The codes of an error and its causes, because drizzle wraps the driver's error. */
export const codesOf = (error: unknown, depth = 0): { code: string; isOfStatement: boolean }[] => {
  if (depth === maxCauses || typeof error !== 'object' || error === null) return [];
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  // The driver adds the statement's text to its errors, also to those of the socket.
  const ownCode = typeof code === 'string' ? [{ code, isOfStatement: 'query' in error }] : [];
  return [...ownCode, ...codesOf(cause, depth + 1)];
};

/**
 * Classifies a database error or its causes. Undefined if a retry would not help, and for errors of other connections, such as
 * those to Redis or a mail server. Retry a `conflict` at once, the others after a pause. Over HTTP all are 503 with
 * Retry-After (`toProblem`).
 */
export const transientFault = (error: unknown): TransientFault | undefined => {
  for (const { code, isOfStatement } of codesOf(error)) {
    const fault = faults.find(([, pattern]) => pattern.test(code));
    if (fault !== undefined) return fault[0];
    if (isOfStatement && isOfConnection(code)) return 'unavailable';
  }
  return undefined;
};

/** Whether the error means that there is no connection, so that any other statement would also have failed. */
export const isDisconnected = (error: unknown): boolean =>
  codesOf(error).some(
    ({ code, isOfStatement }) => disconnection.test(code) || (isOfStatement && isOfConnection(code)),
  );

/**
 * Whether PostgreSQL rolled the transaction back because of a concurrent one: serialisation failure (40001) or deadlock
 * (40P01). A retry may succeed. Not true for 40003, after which the transaction may have been committed.
 */
export const isTransactionConflict = (error: unknown): boolean =>
  codesOf(error).some(({ code }) => code === '40001' || code === '40P01');
