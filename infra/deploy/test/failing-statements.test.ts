import { callEachOperation } from '@platform/openapi-tests/call-each';
import { arrange } from '@platform/openapi-tests/place';
import { services } from '@platform/service-list';
import { expect, test } from 'vitest';
import { startCollector } from './collector.ts';
import { startFailingDatabase, type FailingDatabase } from './failing-database.ts';
import { keys, startService } from './service.ts';

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
