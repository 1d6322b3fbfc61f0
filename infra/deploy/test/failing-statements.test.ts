import { callEachOperation } from '@platform/openapi-tests';
import { arrange } from '@platform/openapi-tests/place';
import { startProxy, type ProxiedConnection } from '@platform/service-kit/testing';
import { services } from '@platform/service-list';
import { expect, test } from 'vitest';
import { startCollector } from './collector.ts';
import { keys, startService } from './service.ts';

/** How a statement fails: as PostgreSQL fails it, values in the places where PostgreSQL has them, or with its connection. */
const faults = ['lock timeout', 'constraint', 'invalid value', 'lost connection'] as const;
type Fault = (typeof faults)[number];

const codes: Record<Exclude<Fault, 'lost connection'>, string> = {
  'lock timeout': '55P03',
  constraint: '23505',
  'invalid value': '22P02',
};

/** A message of the protocol: a type of one byte, and the length of the rest in four. */
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

/** Returns a function that takes bytes and returns the messages that are complete. */
const createReader = () => {
  let rest: Buffer = Buffer.alloc(0);
  return (data: Buffer): Message[] => {
    rest = Buffer.concat([rest, data]);
    const messages: Message[] = [];
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      const bytes = rest.subarray(0, end);
      messages.push({ type: String.fromCharCode(bytes[0] ?? 0), body: bytes.subarray(5), bytes });
      rest = rest.subarray(end);
    }
    return messages;
  };
};

const textUntilNull = (body: Buffer, from: number): [text: string, next: number] => {
  const end = body.indexOf(0, from);
  return [body.toString('utf8', from, end), end + 1];
};

/** The statement and the values of a Bind message. */
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

/** A statement that fails in the server as another one would with these values. */
const failingStatement = (fault: Exclude<Fault, 'lost connection'>, values: readonly string[]): Buffer => {
  const quoted = values.join(', ').replaceAll('$fault$', '').replaceAll('%', '%%').replaceAll('\0', '');
  const message = fault === 'invalid value' ? `invalid input syntax for type uuid: "${quoted}"` : fault;
  const literal = (text: string): string => `$fault$${text}$fault$`;
  const raise = `begin raise exception using errcode = '${codes[fault]}', message = ${literal(message)}, detail = ${literal(`Key (email)=(${quoted})`)}; end`;
  return messageOf('Q', Buffer.from(`do $body$${raise}$body$\0`));
};

interface FailingDatabase extends AsyncDisposable {
  url: string;
  /** From now on every statement fails once in each way, at the first times that it is sent, and then succeeds. */
  begin(): void;
  /** Every value that was sent with a statement. */
  values: Set<string>;
  /** How often each statement failed, by its text. */
  failed: Map<string, number>;
}

/** A proxy in front of PostgreSQL that fails each statement once in each way. */
const startFailingDatabase = async (target: string): Promise<FailingDatabase> => {
  const values = new Set<string>();
  const failed = new Map<string, number>();
  let isFailing = false;

  const onConnect = ({ send, hangUp }: ProxiedConnection) => {
    const texts = new Map<string, string>();
    const read = createReader();
    let held: Buffer[] = [];
    let text = '';
    let sent: string[] = [];

    /** The way in which the statement that ends here has not failed yet. */
    const nextFault = (): Fault | undefined => {
      if (!isFailing || text === '' || /^\s*(?:begin|commit|rollback|savepoint|release)/i.test(text))
        return undefined;
      const times = failed.get(text) ?? 0;
      failed.set(text, times + 1);
      return faults[times];
    };
    const end = (): void => {
      const fault = nextFault();
      if (fault === 'lost connection') hangUp();
      else send(fault === undefined ? Buffer.concat(held) : failingStatement(fault, sent));
      [held, text, sent] = [[], '', []];
    };
    const handle = ({ type, body, bytes }: Message): void => {
      held.push(bytes);
      if (type === 'P') {
        const [name, next] = textUntilNull(body, 0);
        texts.set(name, textUntilNull(body, next)[0]);
      }
      if (type === 'B') {
        const bind = readBind(body);
        text = texts.get(bind.statement) ?? '';
        sent.push(...bind.values);
        for (const value of bind.values) values.add(value);
      }
      if (type === 'Q') [text] = textUntilNull(body, 0);
      if (type === 'S' || type === 'H' || type === 'Q' || type === 'p' || type === 'X') end();
    };
    // The first message has no type: its length leads.
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
      const more = start.subarray(length);
      // A cancel request is all that its connection sends.
      start = undefined;
      for (const message of read(more)) handle(message);
    };
  };
  const proxy = await startProxy(target, { onConnect });
  return {
    url: proxy.url,
    begin: () => void (isFailing = true),
    values,
    failed,
    [Symbol.asyncDispose]: proxy.cut,
  };
};

/** The texts in a value: of an array of PostgreSQL and of JSON each element. */
const textsIn = (value: string): string[] =>
  /^[[{]/.test(value)
    ? [...value.matchAll(/"((?:[^"\\]|\\.)*)"|([^\s,{}[\]":]+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare ?? '',
      )
    : [value];

/**
 * Values that are in the output for other reasons: short ones, words of the code, the address that the process listens on,
 * parts of the times of spans, the largest bigint and the least UUID, which are in statements, and the messages that an event keeps.
 */
const elsewhere =
  /^(?:.{0,7}|[A-Za-z_-]+|127\.0\.0\.1|\d{8}|\d{13}|9223372036854775807|[0-]{36}|The(?:re)? .*|lock timeout|SQLSTATE \w+|\w+ [A-Z_]+)$/s;

/** Paths and ids are logged on purpose. */
const logged = new Set([
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

/** A line of a log, or a batch of spans, without what is logged on purpose. */
const withoutIds = (line: string): string =>
  JSON.stringify(
    JSON.parse(line, (key, value: unknown) => {
      const isRequestId = (value as { key?: unknown } | null)?.key === 'request.id';
      return logged.has(key) || isRequestId ? undefined : value;
    }),
  );

test.each(services)(
  'no value of a statement of $name that fails by a lock, a constraint, a type or a lost connection is printed or in a span',
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
    const place = {
      url: service.url,
      token: await keys.token({ scope: services.flatMap(({ scopes }) => scopes).join(' ') }),
      hmacSecret: 'b'.repeat(64),
      waitFor: (_: string, isSo: () => Promise<boolean>) => expect.poll(isSo).toBe(true),
    };
    try {
      const arranged = await arrange(name, place);
      database?.begin();
      await callEachOperation({ url: service.url, ...arranged });
    } finally {
      // What it prints when it stops counts, too.
      await service[Symbol.asyncDispose]();
    }
    expect(service.errors.join('')).not.toContain('Warning');
    const { values, failed } = database ?? { values: [], failed: new Map<string, number>() };
    expect(failed.size).toBeGreaterThan(10);
    // The wallet logs its checkpoints on purpose, and signs one each ten seconds.
    const printed = service.lines.filter((line) => !line.includes('"msg":"checkpoint signed"'));
    const lines = [...printed, ...collector.bodies].map(withoutIds);
    const output = [...lines, ...service.errors].join('\n');
    const texts = new Set([...values].flatMap(textsIn).filter((text) => !elsewhere.test(text)));
    expect(texts.size).toBeGreaterThan(20);
    expect([...texts].filter((text) => output.includes(text))).toEqual([]);
  },
);
