import postgres from 'postgres';
import { idOf } from './fill.ts';

/** Eight connections that insert one consignment at a time, for some seconds; gives rows a second. */
export const insertRate = async (databaseUrl: string, seconds = 4): Promise<number> => {
  const connections = 8;
  const sql = postgres(databaseUrl, { max: connections, onnotice: () => undefined });
  let rows = 0;
  const end = performance.now() + seconds * 1000;
  const insert = `
    insert into consignments (id, consignment_number, client_id, client_name, carrier_id, warehouse_id, status,
      edi_status, external_id, reference, created_at, updated_at)
    select uuidv7(), 'CN-' || n, '${idOf('c', 7)}', 'Client 7 Trading', '${idOf('a', 7)}', '${idOf('e', 7)}', n % 8, 0,
      'EXT-' || n, null, now(), now() from (select (random() * 1000000)::int as n) number`;
  const write = async () => {
    const own = await sql.reserve();
    for (; performance.now() < end; rows++) await own.unsafe(insert, [], { prepare: true });
    own.release();
  };
  await Promise.all(Array.from({ length: connections }, write));
  await sql.end();
  return rows / seconds;
};
