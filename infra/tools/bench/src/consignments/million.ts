import postgres, { type Sql } from 'postgres';
import type { Figure } from '../figure.ts';
import { startBackingServices, startService, type BenchService } from '../service.ts';
import { fillConsignments } from './fill.ts';

export const rows = 1_000_000;
/** Of a page, as when PageSize is left out. */
export const size = 25;
export const runs = 3;

export interface Setup {
  service: BenchService;
  sql: Sql;
  /** Tokens that may read, and that may write. */
  token: string;
  writing: string;
}

/** A service with a million consignments, for as long as `measure` takes. */
export const withMillion = async (measure: (setup: Setup) => Promise<Figure[]>): Promise<Figure[]> => {
  await using backing = await startBackingServices();
  await using service = await startService('consignments', backing);
  const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
  await fillConsignments(sql, rows);
  const token = await service.keys.token({ scope: 'consignments:read', ttl: 7200 });
  const writing = await service.keys.token({ scope: 'consignments:write', ttl: 7200 });
  const figures = await measure({ service, sql, token, writing });
  await sql.end();
  return figures;
};
