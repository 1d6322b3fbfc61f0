import { SettingsError } from '@platform/service-kit/env';
import type { Sql } from 'postgres';
import type { Policy } from './command.ts';

/** This database was first used with the other TRANSACTION_ID_SCOPE. */
export class ScopeMismatch extends SettingsError {
  override name = 'ScopeMismatch';
}

/**
 * Stores the scope of transaction ids when no process has done so before. After a change, a retry would not find its
 * first attempt and would move the money again, so a different stored scope throws ScopeMismatch.
 */
export const claimTransactionIdScope = async (sql: Sql, scope: Policy['transactionIds']): Promise<void> => {
  await sql`insert into ledger_settings (name, value) values ('transaction_id_scope', ${scope}) on conflict do nothing`;
  const [stored] = await sql<{ value: string }[]>`
    select value from ledger_settings where name = 'transaction_id_scope'`;
  if (stored?.value !== scope)
    throw new ScopeMismatch(
      `TRANSACTION_ID_SCOPE is "${scope}", but the ledger in this database was started with "${stored?.value}". ` +
        `Set TRANSACTION_ID_SCOPE=${stored?.value}, or use an empty database.`,
    );
};
