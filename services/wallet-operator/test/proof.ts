import type { ISql, Sql } from 'postgres';
import { expect } from 'vitest';
import { checkWholeLedger } from '../src/reporting/proof/proving.ts';
import type { Running } from './harness.ts';

/** Every test of money ends with it: the ledger proves itself. */
export const expectSoundLedger = async (of: Pick<Running, 'context'> | { sql: Sql }): Promise<void> => {
  const sql = 'sql' in of ? of.sql : of.context.database.sql;
  expect(await checkWholeLedger(sql)).toMatchObject({ ok: true, violations: [] });
};

/** What somebody with the owner's rights could do to the data; the trigger does not see it. */
export const tamper = (sql: Sql, change: (tx: ISql) => Promise<unknown>) =>
  sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await change(tx);
  });

/** What the metrics of a service say of the ledger: 1, 0, or NaN before the first proof. */
export const proofOk = async ({ url }: { url: string }): Promise<string | undefined> =>
  /^wallet_proof_ok (\S+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
