import { demoSubscription } from '@platform/outgoing-webhooks/demo';
import { demoEnv } from '@platform/service-kit/env';
import { openDatabase } from '@platform/service-kit/db';
import { consignmentDetails } from './demo/details.ts';
import {
  consignments,
  emptyWarehouse,
  inventory,
  lostNumber,
  partners,
  statusChanges,
  stockMovements,
  unusedPartner,
  warehouses,
} from './demo/rows.ts';
import { processEnv } from './env.ts';

const { GATEWAY_URL, DEMO_ADMIN_TOKEN } = demoEnv();
await using database = openDatabase({
  url: processEnv().DATABASE_URL,
  name: 'consignments-demo',
  max: 1,
  // A statement over all rows may exceed the limit for requests on a busy machine, and no client waits for it.
  statementTimeoutMs: 60_000,
});
const { sql } = database;

// Existing rows are kept: somebody may have changed them.
const load = (table: string, rows: readonly object[]) =>
  sql`insert into ${sql(table)} ${sql(rows)} on conflict (id) do nothing`;

await load('partners', [...partners, unusedPartner]);
await load('warehouses', [...warehouses, emptyWarehouse]);
await load('inventory', inventory);
await load('stock_movements', stockMovements);
await load('consignments', consignments);
await load('status_changes', statusChanges);
await load('consignment_details', consignmentDetails);
await demoSubscription(sql, DEMO_ADMIN_TOKEN, 'warehouses');

// The import in the API examples: it belongs to the subject of the token, and its results can be read for a day.
const [, payload = ''] = DEMO_ADMIN_TOKEN.split('.');
const { sub } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string };
const results = JSON.stringify([{ line: 1, id: consignments[0]?.id, digest: '' }]);
await sql`
  insert into import_results (owner, import_id, slice, results) values (${sub}, 'demo', 0, ${results}::text::json)
  on conflict (owner, import_id, slice) do update set stored_at = now()`;

const authorization = `-H 'Authorization: Bearer ${DEMO_ADMIN_TOKEN}'`;
const get = (address: string): string => `curl -s ${authorization} '${GATEWAY_URL}/v1/${address}'`;
/** Each command has its own consignment, so that it can be repeated. */
const setStatus = (n: number, status: number): string =>
  `curl -s -X PATCH '${GATEWAY_URL}/v1/consignments/${consignments[n]?.id}' ${authorization} ` +
  `-H 'Content-Type: application/json' -d '{"status":${status}}'`;
const [client] = partners;
const line = JSON.stringify({
  consignmentNumber: 'CN-IMPORT-1',
  clientId: client?.id,
  clientName: client?.name,
});
const output = {
  demo: {},
  curls: [
    { title: 'Delivered consignments', command: get('consignments?Status=6&PageSize=2') },
    {
      title: 'Consignments that contain a text',
      command: get('consignments?SearchText=flowers&PageSize=2'),
    },
    {
      title: 'One consignment with its lines, parcels, addresses and tracking',
      command: get(`consignments/${consignmentDetails[1]?.id}`),
    },
    {
      title: 'Partners that are carriers, also those with other relationships',
      command: get('partners?Relationship=1&PageSize=2'),
    },
    {
      title: 'Inventory with depleted items',
      command: get('inventory?IncludeDepleted=true&PageSize=2'),
    },
    {
      title: 'Stock movements of an item',
      command: get(`inventory/${inventory[1]?.id}/movements?PageSize=2`),
    },
    { title: 'Book a consignment, which reserves its goods', command: setStatus(1980, 1) },
    { title: 'Pick the goods of a booked consignment', command: setStatus(1820, 2) },
    { title: 'Dispatch a packed consignment: its goods leave the stock', command: setStatus(1500, 4) },
    { title: 'Cancel a draft', command: setStatus(1970, 7) },
    {
      title: 'Status history of a lost consignment',
      command: get(`consignments/${consignments[lostNumber]?.id}/history?PageSize=2`),
    },
    {
      title: 'Import consignments, one per line',
      command:
        `printf '%s\\n' '${line}' 'not a consignment' | curl -s -X POST ${authorization} ` +
        `-H 'Content-Type: application/x-ndjson' --data-binary @- '${GATEWAY_URL}/v1/consignments/import'`,
    },
  ],
};
process.stdout.write(`${JSON.stringify(output)}\n`);
