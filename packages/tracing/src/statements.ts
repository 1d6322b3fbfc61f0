import { context, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import postgres from 'postgres';

/** A query object of postgres.js; it starts to run when `handle` is called for the first time. */
interface Statement {
  executed: boolean;
  /** The text with $1 in place of each value; set when the statement has run. */
  string?: string;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  handle(): Promise<void>;
}

const maxTextLength = 2000;

const textOf = ({ string = '' }: Statement): string =>
  string.replaceAll(/\s+/g, ' ').trim().slice(0, maxTextLength);

/** The SQLSTATE or Node's error code. Spans have no error message, because it may contain a value. */
const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : 'unknown';
};

let traced = false;

/**
 * Creates a span for every statement of postgres.js, in all pools and transactions, also through drizzle. There is no
 * instrumentation for postgres.js and no hook for the end of a statement, so this wraps the one method that starts
 * them. A statement outside of a request or job (polling, health checks) has no span.
 */
export const traceStatements = (tracer: Tracer): void => {
  if (traced) return;
  traced = true;
  // A statement that is not awaited does not run, so this pool never connects.
  const prototype = Object.getPrototypeOf(postgres('postgres://localhost', { max: 1 })``) as Statement;
  const { handle } = prototype;

  const addSpan = (statement: Statement): void => {
    const attributes = { 'db.system.name': 'postgresql' };
    const span = tracer.startSpan('statement', { kind: SpanKind.CLIENT, attributes });
    const { resolve, reject } = statement;
    const end = (error?: unknown): void => {
      const text = textOf(statement);
      const [operation = 'statement'] = text.toLowerCase().match(/^\w+/) ?? [];
      span.updateName(operation);
      span.setAttributes({ 'db.query.text': text, 'db.operation.name': operation });
      if (error !== undefined) {
        span.setAttribute('db.response.status_code', codeOf(error));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    };
    statement.resolve = (result) => {
      end();
      resolve.call(statement, result);
    };
    statement.reject = (error) => {
      end(error ?? new Error('rejected'));
      reject.call(statement, error);
    };
  };
  prototype.handle = function begin(this: Statement) {
    if (!this.executed && trace.getSpan(context.active()) !== undefined) addSpan(this);
    return handle.call(this);
  };
};
