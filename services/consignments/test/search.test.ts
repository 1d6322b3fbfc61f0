import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { contains } from '../src/records/page.ts';
import { hasTrigram } from '../src/search.ts';
import { startService, type Service } from './harness.ts';
import { consignmentInput, inventoryInput, partnerInput, warehouseInput } from './inputs.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
beforeEach(() => service.context.database.sql`delete from consignments`);
afterAll(() => service[Symbol.asyncDispose]());

/** References of the consignments that contain a text. */
const search = async (text: string): Promise<string[]> => {
  const { body } = await service.read(`/consignments?SearchText=${encodeURIComponent(text)}`).expect(200);
  const references = (body.consignments as { reference: string }[]).map(({ reference }) => reference);
  expect(body.total).toBe(references.length);
  return references.toSorted();
};

const make = (reference: string, changes: object = {}) =>
  service.post('/consignments', consignmentInput({ reference, ...changes })).expect(201);

describe('SearchText', () => {
  test('searches consignmentNumber, clientName, externalId and reference', async () => {
    await make('alpha-bravo', { consignmentNumber: 'ZULU-1', clientName: 'Tango', externalId: 'Whisky 7' });
    await make('other');
    for (const text of ['zulu-1', 'TANGO', 'hisky 7', 'alpha', 'a-b', '-', 'O']) {
      expect([text, await search(text)]).toEqual([text, expect.arrayContaining(['alpha-bravo']) as string[]]);
    }
    for (const text of ['zulu-12', 'tangoo', 'draft', 'null'])
      expect([text, await search(text)]).toEqual([text, []]);
  });

  test('never matches across two fields', async () => {
    await make('REF', { consignmentNumber: 'NUM', clientName: 'NAME', externalId: 'EXT' });
    for (const text of ['numname', 'num name', 'nameext', 'extref', 'name ext'])
      expect([text, await search(text)]).toEqual([text, []]);
  });

  test('trims spaces around it and keeps those within', async () => {
    await make('green tea');
    expect(await search('  green tea ')).toEqual(['green tea']);
    expect(await search('greentea')).toEqual([]);
  });

  test.each([
    '%',
    '_',
    '\\',
    '%%',
    '\\%',
    '\\\\',
    "'",
    '"',
    '*',
    '.',
    '$1',
    "';--",
    '{}',
    '[a-z]',
    '(',
    '😀',
    'é',
    '日本',
    'a%b',
    'a_b',
    'a\\b',
  ])('treats %s as ordinary characters', async (text) => {
    const reference = `before${text}after`;
    await make(reference);
    await make('without any of it');
    await make('axb');
    expect(await search(text)).toEqual([reference]);
    expect(await search(`e${text}a`)).toEqual([reference]);
  });

  test('ignores case in every script', async () => {
    await make('Straße Łódź ΣΊΣΥΦΟΣ İzmir');
    for (const text of ['STRASSE', 'straße', 'strasse', 'łÓDŹ', 'σίσυφος', 'ΣΊΣΥΦΟς', 'İZMIR'])
      expect([text, await search(text)]).toEqual([text, ['Straße Łódź ΣΊΣΥΦΟΣ İzmir']]);
  });

  test('finds a text however its accents are composed', async () => {
    await make('Zürich Ångström'.normalize('NFC'));
    await make('Zürich Ångström'.normalize('NFD'));
    const both = ['NFC', 'NFD'].map((form) => 'Zürich Ångström'.normalize(form)).toSorted();
    for (const form of ['NFC', 'NFD'])
      for (const text of ['Zürich', 'ZÜRICH', 'ü', 'ångs'])
        expect([form, text, await search(text.normalize(form))]).toEqual([form, text, both]);
    expect(await search('Zurich')).toEqual([]);
  });

  test('and stored texts may not have more than 30 combining marks in a row, which take long to normalize', async () => {
    const marks = `a${'\u0300'.repeat(31)}`;
    const refused = await service.post('/consignments', consignmentInput({ reference: marks })).expect(400);
    expect(Object.keys(refused.body.errors)).toEqual(['reference']);
    const { body } = await service.read(`/consignments?SearchText=${encodeURIComponent(marks)}`).expect(400);
    expect(Object.keys(body.errors)).toEqual(['SearchText']);
  });

  test('finds a record by its changed text', async () => {
    const { body } = await make('first');
    expect(await search('first')).toEqual(['first']);
    await service.patch(`/consignments/${body.id}`, { reference: 'second' });
    expect(await search('first')).toEqual([]);
    expect(await search('second')).toEqual(['second']);
  });

  test('uses the trigram index of its table', async () => {
    for (const table of ['consignments', 'partners', 'inventory', 'warehouses']) {
      const plan = await service.context.searches.run(true, async (sql) => {
        await sql`set local enable_seqscan = off`;
        return sql`explain select from ${sql(table)} item where ${contains(sql, 'flowers')}`;
      });
      expect(JSON.stringify(plan)).toContain(`${table}_search`);
    }
  });

  test('searches the columns of the other lists', async () => {
    await service.post('/partners', partnerInput({ code: 'PQ-1', name: 'Fairy Forwarding' }));
    await service.post('/warehouses', warehouseInput({ code: 'WQ-1', name: 'Dock', city: 'Ålesund' }));
    await service.post(
      '/inventory',
      inventoryInput({ productCode: 'CQ-1', description: 'Blue Tulips', partnerProductId: 'OWN-7' }),
    );
    for (const [list, texts] of [
      ['partners', ['pq-1', 'fairy']],
      ['warehouses', ['wq', 'DOCK', 'åles']],
      ['inventory', ['cq-1', 'tulips', 'own-7']],
    ] as const) {
      for (const text of texts) {
        const { body } = await service.read(`/${list}?SearchText=${encodeURIComponent(text)}`);
        expect([list, text, body.total]).toEqual([list, text, 1]);
      }
      expect((await service.read(`/${list}?SearchText=nowhere`)).body.total).toBe(0);
    }
  });
});

test.each(['abc', 'a1b', 'x-12 3ab', 'ab', 'ab-cd', 'Łódź', 'zürich', 'москва', '東京都', '١٢٣'])(
  'a search for %s uses the index exactly when PostgreSQL has trigrams for it',
  async (text) => {
    await using instance = await startService();
    const [row] = await instance.context.database.sql<[{ trigrams: string[] }]>`
      select show_trgm(casefold(normalize(${text}::text, nfc) collate "pg_unicode_fast")) as trigrams`;
    expect(hasTrigram(text)).toBe(row.trigrams.some((trigram) => !trigram.includes(' ')));
  },
);

/** Makes the page directory count this many more records, of all clients or of one client. */
const countAs = ({ context }: Service, rows: number, client = '') => context.database.sql`
  insert into consignments_directory_buckets (filter, value, created_at, id, n)
  values (${client && 'client_id'}, ${client}, '2000-01-01', '00000000-0000-7000-8000-000000000000', ${rows})`;

describe('a text of one letter or two, or without three letters in a row', () => {
  const texts = ['c', 'cl', 'cn-'];

  test.each(texts)('is answered with the exact total in up to 2,000,000 records: %s', async (text) => {
    await using long = await startService();
    for (const clientName of ['Clover', 'Cloud', 'Bee'])
      await long.post('/consignments', consignmentInput({ clientName })).expect(201);
    await countAs(long, 1_999_997);
    const { body } = await long.read(`/consignments?SearchText=${text}`).expect(200);
    expect(body.total).toBe(text === 'cl' ? 2 : 3);
  });

  test.each(texts)('returns 400 at once in more: %s', async (text) => {
    await using long = await startService();
    for (let n = 0; n < 2; n++)
      await long.post(
        '/consignments',
        consignmentInput({ clientName: 'Clover', status: n, externalId: `E-${n}` }),
      );
    await countAs(long, 2_000_000);
    const { body } = await long.read(`/consignments?SearchText=${text}`).expect(400);
    expect(body).toMatchObject({ code: 'validation_failed' });
    expect(body.errors.SearchText[0]).toContain('three letters from a to z or digits');

    expect((await long.read('/consignments?SearchText=clo').expect(200)).body.total).toBe(2);
    expect((await long.read(`/consignments?SearchText=${text}&Status=1`).expect(200)).body.total).toBe(1);
    expect((await long.read(`/consignments?SearchText=${text}&ExternalId=E-1`).expect(200)).body.total).toBe(
      1,
    );
    expect((await long.read(`/partners?SearchText=${text}`).expect(200)).body.total).toBe(0);
  });

  test.each(texts)('is answered to a token for several clients with few records: %s', async (text) => {
    await using long = await startService();
    const clients = [0, 1, 2].map((n) => `0198c5a0-7e57-7000-8a00-0000000000d${n}`);
    for (const clientId of clients)
      await long.post('/consignments', consignmentInput({ clientId, clientName: 'Clover' })).expect(201);
    await countAs(long, 2_000_000);
    const token = await long.limitedTo(...clients.slice(1));
    expect((await token.get(`/consignments?SearchText=${text}`).expect(200)).body.total).toBe(2);
    // The clients of the token have too many records together.
    await countAs(long, 1_999_999, clients[1]);
    await token.get(`/consignments?SearchText=${text}`).expect(400);
  });
});

describe('a search that takes too long', () => {
  test.each(['ab', 'abc'])('for %s returns 503 with advice, and delays no other request', async (text) => {
    await using slow = await startService({
      variables: { SEARCH_POOL: '1', SEARCH_TIMEOUT_MS: '500', SEARCH_WAIT_MS: '60000' },
    });
    const { sql } = slow.context.database;
    // Every search waits for this lock, like a scan that does not end.
    const lock = await sql.reserve();
    await lock`begin`;
    await lock`lock table partners`;
    const searches = await Promise.all(
      Array.from({ length: 5 }, () => slow.read(`/partners?SearchText=${text}`)),
    );
    for (const { status, body, headers } of searches) {
      expect([status, headers['retry-after']]).toEqual([503, '2']);
      expect(body).toMatchObject({
        code: 'query_timeout',
        detail: expect.stringContaining('three letters from a to z or digits') as string,
      });
    }
    await slow.read('/warehouses').expect(200);
    await slow.read(`/warehouses?SearchText=${text}`).expect(200);
    await lock`commit`;
    lock.release();
    await slow.read(`/partners?SearchText=${text}`).expect(200);
  });

  test('waits for a limited number of others, and for a limited time', async () => {
    await using slow = await startService({
      variables: { SEARCH_POOL: '1', SEARCH_QUEUE: '1', SEARCH_WAIT_MS: '500', SEARCH_TIMEOUT_MS: '60000' },
    });
    const { sql } = slow.context.database;
    const lock = await sql.reserve();
    await lock`begin`;
    await lock`lock table partners`;
    const answers: unknown[] = [];
    const searches = ['ab', 'bc', 'cd'].map(async (text) => {
      const { status, body, headers } = await slow.read(`/partners?SearchText=${text}`);
      answers.push([status, body.code, headers['retry-after']]);
    });
    // One runs. One finds the queue full, and one waits too long.
    await expect.poll(() => answers).toHaveLength(2);
    expect(answers).toEqual([
      [503, 'too_busy', '1'],
      [503, 'too_busy', '1'],
    ]);
    // The other kind of search has a queue of its own.
    await slow.read('/warehouses?SearchText=abc').expect(200);
    await lock`commit`;
    lock.release();
    await Promise.all(searches);
    expect(answers.at(-1)).toEqual([200, undefined, undefined]);
  });

  test('is cancelled in PostgreSQL, as is a list without a text, so that no connection stays busy', async () => {
    await using slow = await startService({
      variables: { DATABASE_POOL: '1', SEARCH_POOL: '1', SEARCH_TIMEOUT_MS: '3000' },
    });
    const blocker = postgres(slow.databaseUrl, { max: 1 });
    await using _ended = { [Symbol.asyncDispose]: () => blocker.end() };
    await blocker`begin`;
    await blocker`lock table consignments`;
    const [searched, listed] = await Promise.all([
      slow.read('/consignments?SearchText=ab'),
      slow.read('/consignments?Status=1'),
    ]);
    for (const { status, body, headers } of [searched, listed]) {
      expect([status, body.code, headers['retry-after']]).toEqual([503, 'query_timeout', '2']);
      expect(body.detail).toMatch(/narrow it/i);
    }
    const left = await blocker`
      select query from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query ~ 'consignments'`;
    expect(left).toEqual([]);
    // All connections are free, although the lock is still held.
    await slow.read('/warehouses').expect(200);
    await slow.read('/warehouses?SearchText=ab').expect(200);
  });
});
