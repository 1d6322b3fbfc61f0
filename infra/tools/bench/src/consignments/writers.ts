import { insertRate } from '../insert-rate.ts';
import { idOf } from './fill.ts';

/** Consignments a second that eight connections insert, one at a time. */
export const consignmentRate = (databaseUrl: string): Promise<number> =>
  insertRate(
    databaseUrl,
    `insert into consignments (id, consignment_number, client_id, client_name, carrier_id, warehouse_id, status,
      edi_status, external_id, reference, created_at, updated_at)
    select uuidv7(), 'CN-' || n, '${idOf('c', 7)}', 'Client 7 Trading', '${idOf('a', 7)}', '${idOf('e', 7)}', n % 8, 0,
      'EXT-' || n, null, now(), now() from (select (random() * 1000000)::int as n) number`,
  );
