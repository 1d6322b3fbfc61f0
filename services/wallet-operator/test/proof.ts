import type { Sql } from 'postgres';
import { expect } from 'vitest';
import { checkWholeLedger } from '../src/reporting/proof/proving.ts';
import type { Running } from './harness.ts';

/** Every test of money ends with it: the ledger proves itself. */
export const expectSoundLedger = async (of: Pick<Running, 'context'> | { sql: Sql }): Promise<void> => {
  const sql = 'sql' in of ? of.sql : of.context.database.sql;
  expect(await checkWholeLedger(sql)).toMatchObject({ ok: true, violations: [] });
};
