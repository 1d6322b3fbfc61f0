import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';
import { consignmentInput, forced, ids, inventoryInput, partnerInput, warehouseInput } from './inputs.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  for (const table of ['consignments', 'partners', 'inventory', 'warehouses'])
    await service.context.database.sql`delete from ${service.context.database.sql(table)}`;
});
afterAll(() => service[Symbol.asyncDispose]());

interface Body {
  index: number;
  total: number;
  [name: string]: unknown;
}

const read = async (path: string): Promise<Body> => (await service.read(path).expect(200)).body as Body;

/** One field of each item of a list. */
const column = async (path: string, field: string): Promise<unknown[]> => {
  const body = await read(path);
  const name = path.slice(1).split('?')[0] ?? '';
  const items = body[name] as Record<string, unknown>[];
  expect(body.total).toBe(items.length);
  return items.map((item) => item[field]);
};

/** Inserts consignments `from` … `to` by number, a hundred per millisecond, without the service. */
const insertMany = (from: number, to: number) => service.context.database.sql`
  insert into consignments (id, consignment_number, client_id, client_name, status, edi_status, created_at, updated_at)
  select uuidv7(), 'CN-' || n, ${ids.client}, 'Client', n % 8, 0,
    '2026-01-01T00:00:00Z'::timestamptz + n / 100 * interval '1 ms', now()
  from generate_series(${from}::int, ${to}::int) n`;

describe('createdAt and updatedAt', () => {
  test('come from the clock of the database, so that instances whose clocks differ keep the order', async () => {
    const at = (ms: number) =>
      startService({ databaseUrl: service.databaseUrl, overrides: { now: () => new Date(Date.now() + ms) } });
    await using ahead = await at(3_600_000);
    await using behind = await at(-3_600_000);
    await ahead.post('/consignments', consignmentInput({ reference: 'older' })).expect(201);
    await behind.post('/consignments', consignmentInput({ reference: 'newer' })).expect(201);
    await behind
      .post('/consignments/import', consignmentInput({ reference: 'newest' }))
      .set('Content-Type', 'application/x-ndjson')
      .serialize((line: unknown) => JSON.stringify(line))
      .expect(200);
    expect(await column('/consignments', 'reference')).toEqual(['newest', 'newer', 'older']);

    const { body: partner } = await ahead.post('/partners', partnerInput()).expect(201);
    const { sql } = service.context.database;
    await behind.patch(`/partners/${partner.id}`, { name: 'Renamed' }).expect(200);
    const [times] = await sql<[{ ordered: boolean }]>`
      select created_at <= updated_at as ordered from partners where id = ${partner.id}`;
    expect(times.ordered).toBe(true);
  });
});

describe('a walk', () => {
  const walk = async (size: number, between: (page: number) => Promise<unknown> = async () => undefined) => {
    const seen: string[] = [];
    for (let page = 0; ; page++) {
      const body = await read(`/consignments?PageIndex=${page}&PageSize=${size}`);
      expect(body.index).toBe(page);
      seen.push(...(body['consignments'] as { id: string }[]).map(({ id }) => id));
      if ((page + 1) * size >= body.total) return { seen, total: body.total };
      await between(page);
    }
  };

  test.each([7, 25, 100, 500])(
    'in pages of %i returns each record once, newest first, if nothing changes',
    async (size) => {
      await insertMany(1, 1234);
      const { seen, total } = await walk(size);
      const { sql } = service.context.database;
      const rows = await sql<{ id: string }[]>`select id from consignments order by created_at desc, id desc`;
      expect(total).toBe(1234);
      expect(seen).toEqual(rows.map(({ id }) => id));
    },
  );

  test('over rows that are added and removed may repeat or miss rows, but the total is always right', async () => {
    await insertMany(1, 300);
    const { sql } = service.context.database;
    const totals: number[] = [];
    const { seen, total } = await walk(50, async (page) => {
      if (page === 1) await insertMany(301, 320);
      if (page === 2) await sql`delete from consignments where consignment_number in ('CN-1', 'CN-2')`;
      const [row] = await sql`select count(*)::int as n from consignments`;
      totals.push(row?.['n'] as number);
    });
    expect(totals).toEqual([300, 320, 318, 318, 318, 318]);
    expect(total).toBe(318);
    // Twenty newer rows moved twenty rows onto the next page again; the last two rows were deleted.
    expect([seen.length, new Set(seen).size]).toEqual([318, 298]);
  });

  test('sees rows that enter or leave its filter, with the total of each snapshot', async () => {
    await insertMany(1, 80);
    const { sql } = service.context.database;
    const page = async (index: number) => {
      const body = await read(`/consignments?Status=1&PageSize=4&PageIndex=${index}`);
      const items = body['consignments'] as { consignmentNumber: string }[];
      return [body.total, ...items.map(({ consignmentNumber }) => consignmentNumber)];
    };
    expect(await page(0)).toEqual([10, 'CN-73', 'CN-65', 'CN-57', 'CN-49']);
    await sql`update consignments set status = 2 where consignment_number in ('CN-73', 'CN-1')`;
    // A row before it left the filter, so the next page has moved up by one and skips CN-41.
    expect(await page(1)).toEqual([8, 'CN-33', 'CN-25', 'CN-17', 'CN-9']);
    await sql`update consignments set status = 1 where consignment_number in ('CN-80', 'CN-79', 'CN-2')`;
    expect(await page(2)).toEqual([11, 'CN-17', 'CN-9', 'CN-2']);
  });

  test('past its end is empty and has the same total', async () => {
    await insertMany(1, 30);
    for (const [index, size] of [
      [2, 25],
      [1, 30],
      [1, 500],
      [2_147_483_647, 1],
      [2_147_483_647, 500],
    ]) {
      const body = await read(`/consignments?PageIndex=${index}&PageSize=${size}`);
      expect(body).toStrictEqual({ index, total: 30, consignments: [] });
    }
    expect((await read('/consignments?PageIndex=1'))['consignments']).toHaveLength(5);
    const filtered = await read('/consignments?PageIndex=2147483647&PageSize=500&Status=1&SearchText=cn');
    expect(filtered).toMatchObject({ total: 4, consignments: [] });
  });

  test('starts with 25 records', async () => {
    await insertMany(1, 26);
    const body = await read('/consignments');
    expect([body.index, body.total, (body['consignments'] as unknown[]).length]).toEqual([0, 26, 25]);
  });
});

describe('filters', () => {
  test('of consignments are combined with AND before paging', async () => {
    const make = (reference: string, changes: object) =>
      service.post('/consignments', consignmentInput({ reference, ...changes })).expect(201);
    await make('a', { status: 1, ediStatus: 2, warehouseId: ids.warehouse, externalId: 'X-1' });
    await make('b', { status: 1, clientId: ids.otherClient, carrierId: ids.carrier });
    await make('c', { status: 2, warehouseId: ids.warehouse, carrierId: ids.carrier });
    await make('d', { status: 1, warehouseId: ids.otherWarehouse, externalId: 'x-1' });
    const references = (query: string) => column(`/consignments?${query}`, 'reference');
    expect(await references('Status=1')).toEqual(['d', 'b', 'a']);
    expect(await references('Status=0')).toEqual([]);
    expect(await references('EdiStatus=2')).toEqual(['a']);
    expect(await references(`ClientId=${ids.otherClient.toUpperCase()}`)).toEqual(['b']);
    expect(await references(`CarrierId=${ids.carrier}`)).toEqual(['c', 'b']);
    expect(await references(`WarehouseId=${ids.warehouse}`)).toEqual(['c', 'a']);
    expect(await references('ExternalId=X-1')).toEqual(['a']);
    expect(await references('ExternalId=X')).toEqual([]);
    expect(await references(`WarehouseId=${ids.warehouse}&status=1`)).toEqual(['a']);
    expect(await references(`WarehouseId=${ids.warehouse}&Status=1&EdiStatus=0`)).toEqual([]);
    expect(await references(`Status=1&SearchText=flowers&clientid=${ids.client}`)).toEqual(['d', 'a']);
    const page = await read('/consignments?Status=1&PageSize=2&PageIndex=1');
    expect(page).toMatchObject({ index: 1, total: 3, consignments: [{ reference: 'a' }] });
    expect(page['consignments']).toHaveLength(1);
  });

  test('follow every change of a record', async () => {
    const { body } = await service.post('/consignments', consignmentInput());
    for (const status of [1, 2, 1]) {
      await service.patch(`/consignments/${body.id}`, { status, ...forced }).expect(200);
      expect((await read(`/consignments?Status=${status}`)).total).toBe(1);
      expect((await read(`/consignments?Status=${3 - status}`)).total).toBe(0);
      expect((await read(`/consignments?Status=${status}&ClientId=${ids.client}`)).total).toBe(1);
      expect((await read(`/consignments?Status=${3 - status}&ClientId=${ids.client}`)).total).toBe(0);
    }
  });

  test('of partners and warehouses select the records with these values', async () => {
    await service.post('/partners', partnerInput({ code: 'A', relationship: 1 }));
    await service.post('/partners', partnerInput({ code: 'B', relationship: 1, status: 0 }));
    await service.post('/warehouses', warehouseInput({ code: 'C' }));
    await service.post('/warehouses', warehouseInput({ code: 'D', status: 0 }));
    expect(await column('/partners?Relationship=1', 'code')).toEqual(['B', 'A']);
    expect(await column('/partners?Relationship=1&Status=1', 'code')).toEqual(['A']);
    expect(await column('/partners?Relationship=0', 'code')).toEqual([]);
    expect(await column('/warehouses', 'code')).toEqual(['D', 'C']);
    expect(await column('/warehouses?Status=0', 'code')).toEqual(['D']);
  });

  test('of inventory omit depleted items unless IncludeDepleted is true', async () => {
    await service.post('/inventory', inventoryInput({ productCode: 'A' }));
    const { body } = await service.post('/inventory', inventoryInput({ productCode: 'B', quantity: 0 }));
    await service.post(
      '/inventory',
      inventoryInput({ productCode: 'C', partnerProductId: 'x', warehouseId: ids.otherWarehouse }),
    );
    const codes = (query: string) => column(`/inventory?${query}`, 'productCode');
    expect(await codes('')).toEqual(['C', 'A']);
    expect(await codes('IncludeDepleted=false')).toEqual(['C', 'A']);
    expect(await codes('IncludeDepleted=true')).toEqual(['C', 'B', 'A']);
    expect(await codes('PartnerProductId=tulip-red-50')).toEqual(['A']);
    expect(await codes('PartnerProductId=tulip-red-50&IncludeDepleted=true')).toEqual(['B', 'A']);
    expect(await codes(`WarehouseId=${ids.otherWarehouse}`)).toEqual(['C']);
    expect(await codes(`PartnerId=${ids.client}&SearchText=tul-r`)).toEqual([]);
    expect(await codes(`PartnerId=${ids.otherClient}`)).toEqual([]);
    await service.patch(`/inventory/${body.id}`, { quantity: 1 }).expect(200);
    expect(await codes('')).toEqual(['C', 'B', 'A']);
  });
});
