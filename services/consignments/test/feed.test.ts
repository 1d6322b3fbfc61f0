import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startService, type Service } from './harness.ts';
import { consignmentInput, ids, inventoryInput, partnerInput, warehouseInput } from './inputs.ts';

interface Page {
  changes: {
    id: string;
    action: string;
    version: number;
    changedAt: string;
    item?: Record<string, unknown>;
  }[];
  next: string;
  has_more: boolean;
}

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const follow = async (list: string, query = ''): Promise<Page> =>
  (await service.read(`/feeds/consignments/${list}${query}`).expect(200)).body as Page;
const endOf = async (list: string): Promise<string> => (await follow(list)).next;
const create = async (path: string, body: object): Promise<string> =>
  ((await service.post(path, body).expect(201)).body as { id: string }).id;

describe('the feed of a list', () => {
  test.each([
    ['partners', partnerInput(), { name: 'Another' }],
    ['warehouses', warehouseInput(), { name: 'Another' }],
    ['inventory', inventoryInput(), { description: 'Another' }],
    ['consignments', consignmentInput(), { reference: 'Another' }],
  ])(
    'has what was created, changed and deleted in %s, with the items of the list',
    async (list, input, patch) => {
      const begin = await endOf(list);
      const id = await create(`/${list}`, input);
      const created = await follow(list, `?after=${begin}`);
      const listed = (await service.read(`/${list}`).expect(200)).body as Record<string, { id: string }[]>;
      expect(created).toMatchObject({ changes: [{ id, action: 'created' }], has_more: false });
      expect(created.changes[0]?.item).toEqual(listed[list]?.find((item) => item.id === id));
      await service.patch(`/${list}/${id}`, patch).expect(200);
      const changed = await follow(list, `?after=${created.next}`);
      expect(changed.changes).toMatchObject([{ id, action: 'updated', item: { id } }]);
      expect(changed.changes[0]?.version).toBeGreaterThan(created.changes[0]?.version ?? 0);
      await service.delete(`/${list}/${id}`).expect(204);
      const deleted = await follow(list, `?after=${changed.next}`);
      expect(deleted.changes).toEqual([
        {
          id,
          action: 'deleted',
          version: expect.any(Number) as number,
          changedAt: expect.any(String) as string,
        },
      ]);
      expect(await follow(list, `?after=${deleted.next}`)).toEqual({
        changes: [],
        next: deleted.next,
        has_more: false,
      });
    },
  );

  test('returns all changes again after an earlier cursor, in pages of `limit`', async () => {
    const begin = await endOf('warehouses');
    const createdIds = [];
    for (let n = 0; n < 5; n++) createdIds.push(await create('/warehouses', warehouseInput()));
    const seen = [];
    for (let page: Page | undefined, after = begin; page?.has_more !== false; after = page.next) {
      page = await follow('warehouses', `?limit=2&after=${after}`);
      expect(page.changes.length).toBeLessThanOrEqual(2);
      seen.push(...page.changes.map(({ id }) => id));
    }
    expect(seen).toEqual(createdIds);
  });

  test('has one change for several writes of a transaction, and none for a record created and deleted in one', async () => {
    const id = await create('/warehouses', warehouseInput());
    const begin = await endOf('warehouses');
    const { sql } = service.context.database;
    await sql.begin(async (tx) => {
      await tx`update warehouses set name = 'one' where id = ${id}`;
      await tx`update warehouses set name = 'two' where id = ${id}`;
      await tx`insert into warehouses (id, code, name, city, country_code, status)
        values (${ids.client}, 'X', 'X', 'X', 'NL', 1)`;
      await tx`delete from warehouses where id = ${ids.client}`;
    });
    expect((await follow('warehouses', `?after=${begin}`)).changes).toMatchObject([
      { id, action: 'updated', item: { name: 'two' } },
    ]);
  });

  test('has a change of a transaction that stayed open while thousands of later ones were moved', async () => {
    const begin = await endOf('warehouses');
    const { sql } = service.context.database;
    const connection = await sql.reserve();
    await connection`begin`;
    const [early] = await connection`
      insert into warehouses (id, code, name, city, country_code, status)
      values (gen_random_uuid(), 'E', 'Early', 'Tartu', 'EE', 1) returning id`;
    await sql`
      insert into warehouses (id, code, name, city, country_code, status)
      select gen_random_uuid(), 'L', 'Later', 'Tartu', 'EE', 1 from generate_series(1, 6000)`;
    const isPending = async () => {
      // Reading moves pending changes to the log.
      await endOf('warehouses');
      return (await sql`select from feed_pending limit 1`).length;
    };
    await expect.poll(isPending).toBe(0);
    await connection`commit`;
    connection.release();
    await expect
      .poll(async () => {
        const ids = [];
        for (let page: Page | undefined, after = begin; page?.has_more !== false; after = page.next) {
          page = await follow('warehouses', `?limit=1000&after=${after}`);
          ids.push(...page.changes.map(({ id }) => id));
        }
        return [ids.length, ids.at(-1)];
      })
      .toEqual([6001, early?.['id']]);
    await sql`delete from warehouses where name = 'Later'`;
    await expect.poll(isPending).toBe(0);
  });

  test('keeps the order of changes of a record whose first change commits after thousands of later changes', async () => {
    const { sql } = service.context.database;
    const id = await create('/inventory', inventoryInput({ partnerId: ids.client }));
    const begin = await endOf('inventory');
    const give = (on: typeof sql, owner: string) =>
      on`update inventory set partner_id = ${owner} where id = ${id}`;
    const moveAll = async () => {
      while ((await sql`select from feed_pending limit 1`).length > 0) await endOf('warehouses');
    };
    const connection = await sql.reserve();
    await connection`begin`;
    await give(connection as never, ids.otherClient);
    await sql`
      insert into warehouses (id, code, name, city, country_code, status)
      select gen_random_uuid(), 'L', 'Later', 'Tartu', 'EE', 1 from generate_series(1, 6000)`;
    await moveAll();
    await connection`commit`;
    connection.release();
    await give(sql, ids.client);
    const seen = async () => (await follow('inventory', `?after=${begin}&PartnerId=${ids.client}`)).changes;
    await expect.poll(seen).toMatchObject([
      { id, action: 'deleted' },
      { id, action: 'created' },
    ]);
    await sql`delete from warehouses where name = 'Later'`;
    await moveAll();
  });

  test.each([
    ['a transaction that only an earlier server of the database knew', `open = '{99999999999}'`, 99999999999],
    ['transaction ids that start again', 'moved_to = 99999999999', undefined],
  ])('has the changes of %s', async (_, change, xid) => {
    const { sql } = service.context.database;
    const begin = await endOf('partners');
    const id = randomUUID();
    await sql.begin(async (tx) => {
      await tx.unsafe(`update feed_state set ${change}`);
      await tx`
        insert into feed_pending (id, xid, list, record, action) overriding system value
        select case when ${xid !== undefined} then -1 else nextval('feed_pending_id_seq') end,
          coalesce(${xid ?? null}::text::xid8, pg_current_xact_id()), 'partners', ${id}, 'deleted'`;
    });
    await expect
      .poll(async () => (await follow('partners', `?after=${begin}`)).changes)
      .toMatchObject([{ id, action: 'deleted' }]);
  });

  test('shows a limited caller a record that is assigned to its client as created, and one that is reassigned as deleted', async () => {
    const [ours, theirs] = [
      await create('/partners', partnerInput({ name: 'Ours' })),
      await create('/partners', partnerInput({ name: 'Theirs' })),
    ];
    const limited = await service.limitedTo(ours);
    const changesAfter = async (cursor: string) =>
      ((await limited.get(`/feeds/consignments/inventory?after=${cursor}`).expect(200)).body as Page).changes;
    const begin = await endOf('inventory');
    const id = await create('/inventory', inventoryInput({ partnerId: theirs }));
    expect(await changesAfter(begin)).toEqual([]);
    await service.patch(`/inventory/${id}`, { partnerId: ours }).expect(200);
    expect(await changesAfter(begin)).toMatchObject([{ id, action: 'created', item: { partnerId: ours } }]);
    const before = await endOf('inventory');
    await service.patch(`/inventory/${id}`, { partnerId: theirs }).expect(200);
    expect(await changesAfter(before)).toMatchObject([{ id, action: 'deleted' }]);
    // The record belongs to another client now, so its item is not shown.
    expect((await changesAfter(begin)).every(({ item }) => item === undefined)).toBe(true);
    await limited
      .get(`/feeds/consignments/inventory?PartnerId=${theirs}&after=${begin}`)
      .expect(200, /"changes":\[\]/);
  });

  test('answers a waiting request when a change arrives, and without changes when the time is over', async () => {
    const after = await endOf('warehouses');
    const waiting = follow('warehouses', `?wait=25&after=${after}`);
    const many = Array.from({ length: 20 }, () => follow('warehouses', `?wait=25&after=${after}`));
    await create('/partners', partnerInput());
    const id = await create('/warehouses', warehouseInput());
    for (const page of await Promise.all([waiting, ...many]))
      expect(page.changes).toMatchObject([{ id, action: 'created' }]);
    const next = await endOf('warehouses');
    expect(await follow('warehouses', `?wait=1&after=${next}`)).toEqual({
      changes: [],
      next,
      has_more: false,
    });
  });

  test('frees the slot of a waiting request whose client has disconnected', async () => {
    await using small = await startService({
      databaseUrl: service.databaseUrl,
      variables: { FEED_STREAMS: '5' },
    });
    const after = await endOf('warehouses');
    const ask = async (wait: number, signal?: AbortSignal) =>
      (
        await fetch(`${small.url}/v1/feeds/consignments/warehouses?wait=${wait}&after=${after}`, {
          headers: { Authorization: small.writing },
          ...(signal && { signal }),
        })
      ).status;
    const gone = new AbortController();
    const both = [ask(25, gone.signal), ask(25, gone.signal)];
    // A caller has one slot, which the other request has.
    expect(await Promise.race(both)).toBe(503);
    gone.abort();
    await expect(Promise.all(both)).rejects.toThrow('aborted');
    // Before its wait time is over.
    await vi.waitFor(async () => expect(await ask(1)).toBe(200), { timeout: 15_000, interval: 100 });
  });

  test('answers waiting requests when the service stops', async () => {
    await using stopping = await startService({ databaseUrl: service.databaseUrl });
    const after = await endOf('warehouses');
    const waiting = stopping.read(`/feeds/consignments/warehouses?wait=25&after=${after}`).expect(200);
    const answer = waiting.then(({ body }) => body as Page);
    await expect.poll(async () => stopping.context.database.sql`select`.then(() => true)).toBe(true);
    stopping.context.health.draining = true;
    expect(await answer).toMatchObject({ changes: [] });
  });
});

describe('the export of a list', () => {
  test('has all records, and a cursor from which the feed continues', async () => {
    const createdIds = [];
    for (let n = 0; n < 3; n++) createdIds.push(await create('/inventory', inventoryInput()));
    const { text, headers } = await service
      .read('/feeds/consignments/inventory/export')
      .buffer(true)
      .expect(200);
    const [begin, ...items] = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; cursor?: string });
    const cursor = String(headers['feed-cursor']);
    expect(begin).toEqual({ cursor });
    const { body } = await service.read('/inventory?IncludeDepleted=true&PageSize=100').expect(200);
    const listed = (body as { inventory: { id: string }[] }).inventory;
    expect(items).toEqual(listed.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining(createdIds));
    expect((await follow('inventory', `?after=${cursor}`)).changes).toEqual([]);
    const id = await create('/inventory', inventoryInput());
    expect((await follow('inventory', `?after=${cursor}`)).changes).toMatchObject([
      { id, action: 'created' },
    ]);
  });

  test('is CSV on request, without formulas, and compressed if the client accepts it', async () => {
    const name = '=HYPERLINK("http://a.test")';
    const id = await create('/warehouses', warehouseInput({ name }));
    const headers = { Authorization: service.writing };
    const exportOf = (query: string, encoding: string) =>
      fetch(`${service.url}/v1/feeds/consignments/warehouses/export${query}`, {
        headers: { ...headers, 'Accept-Encoding': encoding },
      });
    const plain = await exportOf('?format=csv', 'identity');
    expect(plain.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(plain.headers.get('content-encoding')).toBeNull();
    const text = await plain.text();
    const [head, ...lines] = text.trimEnd().split('\r\n');
    const { body } = await service.read(`/warehouses/${id}`).expect(200);
    const columns = (head ?? '').split(',');
    expect(columns).toEqual(expect.arrayContaining(['id', 'name', 'status']));
    expect(body).toHaveProperty(columns.at(-1) ?? '');
    expect(lines.find((line) => line.startsWith(id))).toContain(`"'=HYPERLINK(""http://a.test"")"`);
    const cursor = plain.headers.get('feed-cursor');
    expect((await follow('warehouses', `?after=${cursor}`)).changes).toEqual([]);
    for (const [encoding, expected] of [
      ['gzip, br', 'gzip'],
      ['br, gzip;q=0', null],
    ] as const) {
      const answer = await exportOf('?format=csv', encoding);
      expect(answer.headers.get('content-encoding')).toBe(expected);
      expect(await answer.text()).toBe(text);
    }
  });

  test('is limited to the clients of the caller, and to a client in the query', async () => {
    const ours = await create('/partners', partnerInput({ name: 'Ours' }));
    const id = await create('/inventory', inventoryInput({ partnerId: ours }));
    const limited = await service.limitedTo(ours);
    const linesOf = async (query: string) => {
      const path = `/feeds/consignments/inventory/export${query}`;
      const { text } = await limited.get(path).buffer(true).expect(200);
      return text.trim().split('\n').slice(1);
    };
    expect((await linesOf('')).map((line) => (JSON.parse(line) as { id: string }).id)).toEqual([id]);
    expect(await linesOf(`?PartnerId=${ids.client}`)).toEqual([]);
  });

  test('has each record of several clients once, also if there are thousands', async () => {
    const clients = [await create('/partners', partnerInput()), await create('/partners', partnerInput())];
    const createdIds = await service.context.database.sql<{ id: string }[]>`
      insert into inventory (id, partner_id, partner_product_id, product_code, description, warehouse_id, quantity, reserved)
      select gen_random_uuid(), (${clients}::uuid[])[1 + n % 2], 'p', 'p', '', ${ids.warehouse}, 1, 0 from generate_series(1, 4500) n
      returning id`;
    const limited = await service.limitedTo(...clients);
    const { text } = await limited.get('/feeds/consignments/inventory/export').buffer(true).expect(200);
    const items = text.trim().split('\n').slice(1);
    expect(items.map((line) => (JSON.parse(line) as { id: string }).id).toSorted()).toEqual(
      createdIds.map(({ id }) => id).toSorted(),
    );
  });

  test('that fails halfway is aborted', async () => {
    await using failing = await startService();
    const { sql } = failing.context.database;
    for (let n = 0; n < 6; n++)
      await sql`insert into warehouses (id, code, name, city, country_code, status)
        select gen_random_uuid(), 'W', repeat('x', 200), 'Tartu', 'EE', 1 from generate_series(1, 5000)`;
    const token = await failing.tokens.token({ scope: 'consignments:read' });
    const answer = await fetch(`${failing.url}/v1/feeds/consignments/warehouses/export`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    // The service has filled the socket buffers, and waits for the reader.
    await sql`alter table warehouses rename to gone`;
    await expect(answer.text()).rejects.toThrow('terminated');
  });
});

describe('a cursor', () => {
  const refused = (after: string) => service.read(`/feeds/consignments/partners?after=${after}`);

  test('of another database is unknown', async () => {
    await using elsewhere = await startService();
    const endElsewhere = async () =>
      ((await elsewhere.read('/feeds/consignments/partners').expect(200)).body as Page).next;
    // Tests copy one database, including its epoch.
    await elsewhere.context.database.sql`update feed_state set epoch = gen_random_uuid()`;
    await refused(await endElsewhere()).expect(410, /"cursor_unknown"/);
  });

  test('of a copy of the database with later changes is unknown', async () => {
    await using copy = await startService();
    await copy.post('/partners', partnerInput()).expect(201);
    const { body } = await copy.read('/feeds/consignments/partners').expect(200);
    await refused((body as Page).next).expect(410, /"cursor_unknown"/);
  });

  test('of changes that a restored backup does not have is unknown, also when later changes have the same positions', async () => {
    const { sql } = service.context.database;
    await create('/partners', partnerInput());
    await endOf('partners');
    const [state] = await sql`select * from feed_state`;
    await create('/partners', partnerInput());
    const lost = await endOf('partners');
    // The state that an earlier backup would have.
    await sql`delete from feed_log where position > ${state?.position}`;
    await sql`update feed_state set position = ${state?.position}, stamp = ${state?.stamp}`;
    await refused(lost).expect(410, /"cursor_unknown"/);
    await create('/partners', partnerInput());
    await create('/partners', partnerInput());
    await refused(lost).expect(410, /"cursor_unknown"/);
  });

  test('that is older than the log is expired', async () => {
    const { sql } = service.context.database;
    await create('/partners', partnerInput());
    const old = await endOf('partners');
    await sql`update feed_log set changed_at = now() - interval '31 days'`;
    // The newest cursor is the end of the feed, and stays valid.
    await refused(old).expect(200);
    await create('/partners', partnerInput());
    await refused(old).expect(410, /"cursor_expired"/);
    const next = await endOf('partners');
    await sql`delete from feed_log`;
    await refused(old).expect(410, /"cursor_expired"/);
    await refused(next).expect(200);
    await create('/partners', partnerInput());
    await refused(next).expect(410, /"cursor_expired"/);
  });

  test.each(['', 'x', '%00', 'A'.repeat(43), 'A'.repeat(100)])('%j is refused', async (text) => {
    const { status } = await refused(text);
    expect([400, 410]).toContain(status);
  });

  test('is not needed after a TRUNCATE of a list, which is refused', async () => {
    await expect(service.context.database.sql`truncate warehouses`).rejects.toThrow('P0001');
  });
});

test('a statement that changes many rows takes linear time, also after a single change on the same connection', async () => {
  const connection = await service.context.database.sql.reserve();
  await connection`insert into warehouses (id, code, name, city, country_code, status)
    select gen_random_uuid(), 'W', 'many', 'Tartu', 'EE', 1 from generate_series(1, 20000)`;
  await connection`update warehouses set status = 0 where id = (select id from warehouses limit 1)`;
  // Comparing all pairs of rows would take minutes, but a statement may take only seconds.
  const { count } = await connection`update warehouses set city = 'Riga' where name = 'many'`;
  connection.release();
  expect(count).toBe(20_000);
});
