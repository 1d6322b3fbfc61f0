import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFailures, type Traffic } from '@platform/e2e/load';
import { waitForMore, waitUntilStored, whileClientsRun } from './clients.ts';
import type { Deployment } from './platform.ts';
import { migrateTooEarly } from './rollout.ts';

const WALLET = 'wallet-operator';

/** The requests of the gateway's log that docs/backup.md selects, counted by service. */
const countByService = (log: string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const line of log.split('\n').filter(Boolean)) {
    const { service } = JSON.parse(line) as { service: string };
    counts.set(service, (counts.get(service) ?? 0) + 1);
  }
  return counts;
};

/**
 * Follows docs/backup.md: takes a backup while clients use the platform, breaks the platform by migrations that come too
 * early, and restores the backup into an empty PostgreSQL. One line for each thing that differs from what the page says.
 */
export const rehearseRestore = async (platform: Deployment): Promise<string[]> => {
  await using disk = await mkdtempDisposable(join(tmpdir(), 'rehearsal-backup-'));
  const folder = join(disk.path, 'platform');
  const follow = (heading: string): Promise<string> =>
    platform.follow('backup.md', heading, { BACKUP: folder });

  const faults: string[] = [];
  const traffic = await whileClientsRun(platform, async (running) => {
    await waitForMore(running);
    await follow('Take a backup');
    await waitForMore(running);
    faults.push(...(await migrateTooEarly(platform, running)));
  });
  const debits = [...(traffic[WALLET]?.acknowledged.keys() ?? [])];
  await writeFile(join(folder, 'statement'), debits.map((id) => `${id}\n`).join(''));

  await follow('Empty the databases');
  await follow('Restore');
  await platform.ready();
  await follow('Check');
  faults.push(...(await compareWithReport(platform, traffic, folder, follow)));
  // The restored platform takes requests.
  return [...faults, ...findFailures(await whileClientsRun(platform, waitForMore))];
};

const compareWithReport = async (
  platform: Deployment,
  traffic: Traffic,
  folder: string,
  follow: (heading: string) => Promise<string>,
): Promise<string[]> => {
  const began = Date.parse((await readFile(join(folder, 'began'), 'utf8')).trim());
  const missing = await waitUntilStored(platform, traffic, began);
  const faults: string[] = [];
  const reported = countByService(await follow('All services'));
  for (const [service, ids] of Object.entries(missing)) {
    const count = reported.get(service) ?? 0;
    if (count === 0 || ids.size > count)
      faults.push(`${service} lost ${ids.size} requests after the backup, and the report has ${count}`);
  }
  const lostDebits = [...(missing[WALLET]?.keys() ?? [])].toSorted();
  const listed = (await follow('The ledger')).split('\n').filter(Boolean).toSorted();
  if (lostDebits.length === 0 || listed.join() !== lostDebits.join())
    faults.push(`the ledger lost the debits ${lostDebits.join()}, and the report has ${listed.join()}`);
  return faults;
};
