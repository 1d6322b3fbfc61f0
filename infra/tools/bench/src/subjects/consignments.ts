import { rebuild } from '@platform/pagination/directory';
import { consignmentDirectory } from 'consignments/directories';
import type { Sql } from 'postgres';
import type { BenchService } from '../service.ts';

export const counts = { clients: 200, warehouses: 50, carriers: 20, statuses: 8, ediStatuses: 5 };

/** Id of the n-th client (`c`), warehouse (`e`) or carrier (`a`). */
export const idOf = (type: 'c' | 'e' | 'a', n: number): string =>
  `00000000-0000-7000-8000-${type}${String(n).padStart(11, '0')}`;

/**
 * Inserts consignments, one created every second, with values spread evenly and independently over all filters. Each
 * contains the text `cl` and a unique number of eight digits. Then rebuilds the page directory and vacuums.
 */
export const fillConsignments = async (sql: Sql, rows: number): Promise<void> => {
  const spread = (salt: number, count: number) =>
    sql`((hashint4extended(n, ${salt}) % ${count} + ${count}) % ${count})`;
  const id = (type: string, number: ReturnType<typeof spread>) =>
    sql`('00000000-0000-7000-8000-' || ${type}::text || lpad(${number}::text, 11, '0'))::uuid`;
  await sql`alter table consignments disable trigger user`;
  await sql`
    insert into consignments (id, consignment_number, client_id, client_name, carrier_id, warehouse_id, status,
      edi_status, external_id, reference, created_at, updated_at)
    select uuidv7(), 'CN-' || lpad(n::text, 8, '0'), ${id('c', spread(1, counts.clients))},
      'Client ' || ${spread(1, counts.clients)} || ' Trading', ${id('a', spread(2, counts.carriers))},
      ${id('e', spread(3, counts.warehouses))}, ${spread(4, counts.statuses)}, ${spread(5, counts.ediStatuses)},
      'EXT-' || left(md5(n::text), 12), 'PO ' || n::bigint * 7919 % 100000, created_at, created_at
    from generate_series(1, ${rows}::int) n,
      lateral (select timestamptz '2026-01-01' + n * interval '1 second' as created_at) time`;
  await sql`alter table consignments enable trigger user`;
  // Without statistics the rebuild would choose the wrong index for each value.
  await sql`vacuum analyze consignments`;
  await rebuild(sql, consignmentDirectory);
  await sql`vacuum analyze`;
};

let importedCount = 0;

/** Imports `lines` consignments in one request; returns the consignments per second. */
export const importRate = async ({ url, keys }: BenchService, lines: number): Promise<number> => {
  const token = await keys.token({ scope: 'consignments:write', ttl: 7200 });
  const clientId = '00000000-0000-7000-8000-c00000000001';
  const body = Array.from({ length: lines }, () =>
    JSON.stringify({ consignmentNumber: `IM-${importedCount++}`, clientId, clientName: 'Client 1 Trading' }),
  );
  const start = performance.now();
  const response = await fetch(`${url}/v1/consignments/import`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/x-ndjson' },
    body: body.join('\n'),
  });
  const results = (await response.text()).trim().split('\n');
  if (results.length !== lines || results.some((line) => line.includes('error')))
    throw new Error(`the import answered ${response.status} ${results.at(-1)}`);
  return (lines * 1000) / (performance.now() - start);
};
