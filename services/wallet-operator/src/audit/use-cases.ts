import type { Sql } from 'postgres';
import { checkLedger, type Findings } from './store.ts';

export interface Proof extends Findings {
  ok: boolean;
  checkedAt: string;
}

/** Whether the ledger is sound, found out now. */
export const proveLedger = async (sql: Sql, now: Date): Promise<Proof> => {
  const findings = await checkLedger(sql);
  return { ok: findings.violations.length === 0, checkedAt: now.toISOString(), ...findings };
};
