/** Why the database could not do something now that it may well do on another try. */
export type TransientFault = 'lost' | 'unavailable' | 'timeout' | 'conflict';

/** The connection was lost or could not be opened: 08, 57P0x shutdown or start, 53300 too many connections. */
const disconnection = /^(?:08...|53300|57P0.|CONNECT_TIMEOUT|CONNECTION_(?:CLOSED|ENDED|DESTROYED))$/;

/**
 * SQLSTATE classes and codes that mean "not now" (PostgreSQL documentation, appendix A), and the codes that postgres.js
 * gives an error of the connection itself.
 */
const faults: [TransientFault, RegExp][] = [
  // The connection broke after the statement was sent, so that a commit may have been done.
  ['lost', /^(?:08...|57P0[12]|CONNECTION_(?:CLOSED|DESTROYED))$/],
  ['unavailable', disconnection],
  // 53 resources used up, 55000 the database accepts no connections, 55P03 a lock was not available.
  ['unavailable', /^(?:53...|55000|55P03)$/],
  // 57014 statement_timeout, 25P03 idle in transaction, 25P04 transaction_timeout.
  ['timeout', /^(?:57014|25P03|25P04)$/],
  // 40 serialization failure, deadlock and other rollbacks.
  ['conflict', /^40...$/],
];

/** Codes of Node.js for a connection that could not be opened, or broke. The last two: there was no free file descriptor. */
const socketFault =
  /^(?:ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EMFILE|ENFILE)$/;

/** Codes of Node.js for the certificate of a server that is not trusted, not valid, or for another host. */
export const certificateCode =
  /^(?:ERR_TLS_CERT_ALTNAME_INVALID|(?:DEPTH_ZERO_)?SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_)/;

const isOfConnection = (code: string): boolean => socketFault.test(code) || certificateCode.test(code);

const maxCauses = 5;

/** The codes of an error and of its causes: drizzle wraps the error of the driver. */
export const codesOf = (error: unknown, depth = 0): { code: string; isOfStatement: boolean }[] => {
  if (depth === maxCauses || typeof error !== 'object' || error === null) return [];
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  // The driver adds the text of the statement to each error, also to one of the socket.
  const own = typeof code === 'string' ? [{ code, isOfStatement: 'query' in error }] : [];
  return [...own, ...codesOf(cause, depth + 1)];
};

/**
 * Classifies an error that a query threw, or its cause (drizzle wraps what postgres.js throws); undefined when trying
 * again would not help, and for the connections of other programs, such as Redis or a mail server. `conflict` is worth a
 * retry at once, the others after a pause. Over HTTP all are 503 with Retry-After (`toProblem`).
 */
export const transientFault = (error: unknown): TransientFault | undefined => {
  for (const { code, isOfStatement } of codesOf(error)) {
    const fault = faults.find(([, pattern]) => pattern.test(code));
    if (fault !== undefined) return fault[0];
    if (isOfStatement && isOfConnection(code)) return 'unavailable';
  }
  return undefined;
};

/** Whether there is no connection, so that any other statement would have failed as well. */
export const isDisconnected = (error: unknown): boolean =>
  codesOf(error).some(
    ({ code, isOfStatement }) => disconnection.test(code) || (isOfStatement && isOfConnection(code)),
  );

/**
 * Whether PostgreSQL rolled the transaction back for the sake of another one: serialisation failure (40001) or deadlock
 * (40P01). The same transaction may succeed now. Not 40003, after which it may have been committed.
 */
export const isTransactionConflict = (error: unknown): boolean =>
  codesOf(error).some(({ code }) => code === '40001' || code === '40P01');
