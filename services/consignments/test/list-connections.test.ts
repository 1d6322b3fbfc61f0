import type { ISql } from 'postgres';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';
import { ids, inventoryInput } from './inputs.ts';

test('a list for which all matches are counted uses the connections of searches, not those of other requests', async () => {
  await using first = await startService();
  let searches: boolean[] = [];
  const run = <T>(isIndexed: boolean, read: (sql: ISql) => Promise<T>): Promise<T> => {
    searches.push(isIndexed);
    return first.context.searches.run(isIndexed, read);
  };
  const overrides = { searches: { run } };
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides });
  const searchesOf = async (path: string): Promise<boolean[]> => {
    searches = [];
    await service.read(path).expect(200);
    return searches;
  };
  for (const path of [
    '/consignments?Status=6&EdiStatus=3',
    '/consignments?ExternalId=none',
    `/consignments?ClientId=${ids.client}&Status=1`,
    '/consignments?SearchText=abc',
    `/inventory?PartnerId=${ids.client}&WarehouseId=${ids.warehouse}`,
    '/inventory?PartnerProductId=none',
  ])
    expect([path, await searchesOf(path)]).toEqual([path, [true]]);
  for (const path of ['/consignments', '/consignments?Status=6', '/inventory', '/partners?Status=1'])
    expect([path, await searchesOf(path)]).toEqual([path, []]);
});

test('items in stock of one partner, or in one warehouse, are counted by the page directory', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const filters = ['stocked_partner_id', 'stocked_warehouse_id'];
  for (const quantity of [0, 5]) await service.post('/inventory', inventoryInput({ quantity })).expect(201);
  for (const filter of filters)
    await sql`
      insert into inventory_directory_buckets (filter, value, created_at, id, n)
      values (${filter}, ${filter.includes('partner') ? ids.client : ids.warehouse},
        '2000-01-01', '00000000-0000-7000-8000-000000000000', 1000)`;
  const totalOf = async (query: string) => (await service.read(`/inventory?${query}`).expect(200)).body.total;
  expect(await totalOf(`PartnerId=${ids.client}`)).toBe(1001);
  expect(await totalOf(`WarehouseId=${ids.warehouse}`)).toBe(1001);
  expect(await totalOf(`PartnerId=${ids.client}&IncludeDepleted=true`)).toBe(2);
});
