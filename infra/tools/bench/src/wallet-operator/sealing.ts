import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inherited } from '../env.ts';
import { repeat } from '../figure.ts';
import type { Wallet } from './wallet.ts';

const cwd = new URL('../../../../../services/wallet-operator', import.meta.url).pathname;

const countUnsealed = async ({ sql }: Wallet): Promise<number> => {
  const [row] = await sql<{ unsealed: number }[]>`
    select ((select count(*) from entries) - (select coalesce(max(total), 0) from sealed_ranges))::float8 as unsealed`;
  return row?.unsealed ?? 0;
};

/**
 * Seconds that `verify-seals` takes for the whole ledger. Entries that did not come through the service are sealed
 * before, because a debit of their player makes the service look at all of them.
 */
export const verifySealed = async (wallet: Wallet, times: number): Promise<number[]> => {
  while ((await countUnsealed(wallet)) > 0) await sleep(500);
  const { url, databaseUrl } = wallet.service;
  const folder = await mkdtemp(join(tmpdir(), 'seals-'));
  const keys = join(folder, 'keys.json');
  await writeFile(keys, await (await fetch(`${url}/v1/audit/keys`)).text());
  try {
    return await repeat(times, async () => {
      const start = performance.now();
      const env = { ...inherited, DATABASE_URL: databaseUrl };
      await promisify(execFile)(process.execPath, ['src/verify-seals.ts', '--key', keys], { cwd, env });
      return (performance.now() - start) / 1000;
    });
  } finally {
    await rm(folder, { recursive: true });
  }
};
