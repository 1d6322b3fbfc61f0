import { callEachOperation } from '@platform/openapi-tests';
import { setUp } from '@platform/openapi-tests/setup';
import { startProxy, type ProxiedConnection } from '@platform/service-kit/testing';
import { services } from '@platform/service-list';
import { expect, test } from 'vitest';
import { startCollector } from './collector.ts';
import { keys, startService } from './service.ts';

/** Ways in which a statement fails: with an error of PostgreSQL that contains values in the usual places, or with its connection. */
const faults = ['lock timeout', 'constraint', 'invalid value', 'lost connection'] as const;
type Fault = (typeof faults)[number];

const sqlStates: Record<Exclude<Fault, 'lost connection'>, string> = {
  'lock timeout': '55P03',
  constraint: '23505',
  'invalid value': '22P02',
};

/** A message of PostgreSQL's protocol: one byte for the type, four for the length, and the body. */
interface Message {
  type: string;
  body: Buffer;
  bytes: Buffer;
}

const messageOf = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

/** Returns a function that buffers bytes and returns complete messages. */
const createReader = () => {
  let buffered: Buffer = Buffer.alloc(0);
  return (data: Buffer): Message[] => {
    buffered = Buffer.concat([buffered, data]);
    const messages: Message[] = [];
    while (buffered.length >= 5 && buffered.length > buffered.readInt32BE(1)) {
      const end = 1 + buffered.readInt32BE(1);
      const bytes = buffered.subarray(0, end);
      messages.push({ type: String.fromCharCode(bytes[0] ?? 0), body: bytes.subarray(5), bytes });
      buffered = buffered.subarray(end);
    }
    return messages;
  };
};

const textUntilNull = (body: Buffer, from: number): [text: string, next: number] => {
  const end = body.indexOf(0, from);
  return [body.toString('utf8', from, end), end + 1];
};

/** Reads the name of the statement and the values from a Bind message. */
const readBind = (body: Buffer): { statement: string; values: string[] } => {
  const [, afterPortal] = textUntilNull(body, 0);
  const [statement, afterName] = textUntilNull(body, afterPortal);
  let at = afterName + 2 + 2 * body.readInt16BE(afterName);
  const values: string[] = [];
  const count = body.readInt16BE(at);
  at += 2;
  for (let index = 0; index < count; index++) {
    const length = body.readInt32BE(at);
    at += 4;
    if (length < 0) continue;
    values.push(body.toString('utf8', at, at + length));
    at += length;
  }
  return { statement, values };
};

/** Creates a statement that fails in the server with an error that contains these values. */
const failingStatement = (fault: Exclude<Fault, 'lost connection'>, values: readonly string[]): Buffer => {
  const quoted = values.join(', ').replaceAll('$fault$', '').replaceAll('%', '%%').replaceAll('\0', '');
  const message = fault === 'invalid value' ? `invalid input syntax for type uuid: "${quoted}"` : fault;
  const literal = (text: string): string => `$fault$${text}$fault$`;
  const raise = `begin raise exception using errcode = '${sqlStates[fault]}', message = ${literal(message)}, detail = ${literal(`Key (email)=(${quoted})`)}; end`;
  return messageOf('Q', Buffer.from(`do $body$${raise}$body$\0`));
};

interface FailingDatabase extends AsyncDisposable {
  url: string;
  /** Starts the failures: each statement fails once in each way and succeeds afterwards. */
  startFailing(): void;
  /** All values that were sent with statements. */
  values: Set<string>;
  /** Number of failures of each statement, by its text. */
  failed: Map<string, number>;
}

/** Starts a proxy in front of PostgreSQL that makes each statement fail once in each way. */
const startFailingDatabase = async (target: string): Promise<FailingDatabase> => {
  const values = new Set<string>();
  const failed = new Map<string, number>();
  let isFailing = false;

  const onConnect = ({ send, hangUp }: ProxiedConnection) => {
    const texts = new Map<string, string>();
    const read = createReader();
    let pendingMessages: Buffer[] = [];
    let text = '';
    let pendingValues: string[] = [];

    /** The next way in which the pending statement should fail; undefined if it should succeed. */
    const nextFault = (): Fault | undefined => {
      if (!isFailing || text === '' || /^\s*(?:begin|commit|rollback|savepoint|release)/i.test(text))
        return undefined;
      const failures = failed.get(text) ?? 0;
      failed.set(text, failures + 1);
      return faults[failures];
    };
    const flush = (): void => {
      const fault = nextFault();
      if (fault === 'lost connection') hangUp();
      else
        send(fault === undefined ? Buffer.concat(pendingMessages) : failingStatement(fault, pendingValues));
      [pendingMessages, text, pendingValues] = [[], '', []];
    };
    const handle = ({ type, body, bytes }: Message): void => {
      pendingMessages.push(bytes);
      if (type === 'P') {
        const [name, next] = textUntilNull(body, 0);
        texts.set(name, textUntilNull(body, next)[0]);
      }
      if (type === 'B') {
        const bind = readBind(body);
        text = texts.get(bind.statement) ?? '';
        pendingValues.push(...bind.values);
        for (const value of bind.values) values.add(value);
      }
      if (type === 'Q') [text] = textUntilNull(body, 0);
      if (type === 'S' || type === 'H' || type === 'Q' || type === 'p' || type === 'X') flush();
    };
    // The first message has no type and starts with its length.
    let start: Buffer | undefined = Buffer.alloc(0);
    return (data: Buffer): void => {
      if (start === undefined) {
        for (const message of read(data)) handle(message);
        return;
      }
      start = Buffer.concat([start, data]);
      if (start.length < 8 || start.length < start.readInt32BE(0)) return;
      const length = start.readInt32BE(0);
      send(start.subarray(0, length));
      const remaining = start.subarray(length);
      // The following messages have a type. (A connection with a cancel request sends none.)
      start = undefined;
      for (const message of read(remaining)) handle(message);
    };
  };
  const proxy = await startProxy(target, { onConnect });
  return {
    url: proxy.url,
    startFailing: () => void (isFailing = true),
    values,
    failed,
    [Symbol.asyncDispose]: proxy.cut,
  };
};

/** The texts in a value: each element of a PostgreSQL array or of JSON, otherwise the value itself. */
const textsIn = (value: string): string[] =>
  /^[[{]/.test(value)
    ? [...value.matchAll(/"((?:[^"\\]|\\.)*)"|([^\s,{}[\]":]+)/g)].map(
        ([, quoted, unquoted]) => quoted ?? unquoted ?? '',
      )
    : [value];

/**
 * Values that may be in the output for other reasons: short ones, words of the code, the listen address, parts of span
 * times, the largest bigint and the smallest UUID (both are in statements), and messages that are stored with an event.
 */
const harmlessValues =
  /^(?:.{0,7}|[A-Za-z_-]+|127\.0\.0\.1|\d{8}|\d{13}|9223372036854775807|[0-]{36}|The(?:re)? .*|lock timeout|SQLSTATE \w+|\w+ [A-Z_]+)$/s;

/** Fields that are logged on purpose. */
const loggedFields = new Set([
  'time',
  'path',
  'requestId',
  'eventId',
  'recordedAs',
  'revealedBy',
  'storeId',
  'playerId',
  'userId',
  'apiKey',
  'replaces',
  'by',
]);

/** A log line or a batch of spans without the fields that are logged on purpose. */
const removeLoggedFields = (line: string): string =>
  JSON.stringify(
    JSON.parse(line, (key, value: unknown) => {
      const isRequestId = (value as { key?: unknown } | null)?.key === 'request.id';
      return loggedFields.has(key) || isRequestId ? undefined : value;
    }),
  );

test.each(services)(
  'no value of a statement of $name that fails (lock, constraint, type or lost connection) is in the output or in a span',
  { timeout: 400_000 },
  async ({ name }) => {
    await using stack = new AsyncDisposableStack();
    const collector = stack.use(await startCollector());
    let database: FailingDatabase | undefined;
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, RATE_LIMIT: 'off' };
    const service = await startService(name, settings, [], async (url) => {
      database = stack.use(await startFailingDatabase(url));
      return database;
    });
    const server = {
      url: service.url,
      token: await keys.token({ scope: services.flatMap(({ scopes }) => scopes).join(' ') }),
      hmacSecret: 'b'.repeat(64),
      waitFor: (_: string, condition: () => Promise<boolean>) => expect.poll(condition).toBe(true),
    };
    try {
      const setup = await setUp(name, server);
      database?.startFailing();
      await callEachOperation({ url: service.url, ...setup });
    } finally {
      // Stop it first, so that its last output is included.
      await service[Symbol.asyncDispose]();
    }
    expect(service.errors.join('')).not.toContain('Warning');
    const { values, failed } = database ?? { values: [], failed: new Map<string, number>() };
    expect(failed.size).toBeGreaterThan(10);
    // The wallet logs its checkpoints on purpose; it signs one every ten seconds.
    const logLines = service.lines.filter((line) => !line.includes('"msg":"checkpoint signed"'));
    const lines = [...logLines, ...collector.bodies].map(removeLoggedFields);
    const output = [...lines, ...service.errors].join('\n');
    const texts = new Set([...values].flatMap(textsIn).filter((text) => !harmlessValues.test(text)));
    expect(texts.size).toBeGreaterThan(20);
    expect([...texts].filter((text) => output.includes(text))).toEqual([]);
  },
);
