import { mkdtempDisposable, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFailures, whileClientsRun, type Traffic } from '@platform/e2e/load';
import { waitForMore, waitUntilStored } from './clients.ts';
import { PROJECT } from './documented.ts';
import type { Engine } from './engine.ts';
import type { Deployment } from './platform.ts';
import { migrateTooEarly } from './rollout.ts';

const WALLET = 'wallet-operator';

/** Counts the requests by service in the lines of the gateway's log that a command of docs/backup.md selects. */
const countByService = (log: string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const line of log.split('\n').filter(Boolean)) {
    const { service } = JSON.parse(line) as { service: string };
    counts.set(service, (counts.get(service) ?? 0) + 1);
  }
  return counts;
};

/** A file that this test adds to the volume of the spool. */
const SPOOL_FILE = '/repo/data/rehearsed';

/** Simulates the loss of the machine: removes keys, passwords, the gateway's configuration and the spool. */
const loseMachine = async ({ docker }: Engine, { prepared }: Deployment): Promise<void> => {
  await rm(prepared, { recursive: true });
  await docker('volume', 'rm', `${PROJECT}_spool`);
};

/**
 * Follows docs/backup.md: takes a backup while clients use the platform, breaks the platform with migrations that run too
 * early, and restores the backup on an empty machine. Returns one line for each fault.
 */
export const rehearseRestore = async (engine: Engine, platform: Deployment): Promise<string[]> => {
  await using disk = await mkdtempDisposable(join(tmpdir(), 'rehearsal-backup-'));
  const folder = join(disk.path, 'platform');
  const runCommands = (heading: string): Promise<string> =>
    platform.runDocumented('backup.md', heading, { BACKUP: folder });

  const faults: string[] = [];
  const isRefused = await runCommands('Take a backup').then(
    () => false,
    (error: Error) => error.message.includes('the disk is not mounted'),
  );
  if (!isRefused) faults.push('a backup was written to a disk that is not mounted');
  await writeFile(join(disk.path, 'backup-disk'), '');
  await platform.compose(`exec -T store-webhooks sh -c 'echo acknowledged > ${SPOOL_FILE}'`);
  const traffic = await whileClientsRun(platform.access, async (running) => {
    await waitForMore(running);
    await runCommands('Take a backup');
    await waitForMore(running);
    faults.push(...(await migrateTooEarly(platform, running)));
  });
  // The statement of the game server, with which docs/backup.md finds debits that the restored ledger lacks.
  const debits = [...(traffic[WALLET]?.acknowledged.keys() ?? [])];
  await writeFile(join(folder, 'statement'), debits.map((id) => `${id}\n`).join(''));

  await runCommands('Empty the databases');
  await loseMachine(engine, platform);
  await runCommands('Restore');
  await platform.ready();
  if ((await platform.compose(`exec -T store-webhooks cat ${SPOOL_FILE}`)).trim() !== 'acknowledged')
    faults.push('the spool was not restored');
  await runCommands('Check');
  faults.push(...(await compareWithReport(platform, traffic, folder, runCommands)));
  return [...faults, ...findFailures(await whileClientsRun(platform.access, waitForMore))];
};

const compareWithReport = async (
  platform: Deployment,
  traffic: Traffic,
  folder: string,
  runCommands: (heading: string) => Promise<string>,
): Promise<string[]> => {
  const began = Date.parse((await readFile(join(folder, 'began'), 'utf8')).trim());
  const missing = await waitUntilStored(platform, traffic, began);
  const faults: string[] = [];
  const reported = countByService(await runCommands('All services'));
  for (const [service, ids] of Object.entries(missing)) {
    const count = reported.get(service) ?? 0;
    if (count === 0 || ids.size > count)
      faults.push(`${service} lost ${ids.size} requests after the backup, and the report has ${count}`);
  }
  const lostDebits = [...(missing[WALLET]?.keys() ?? [])].toSorted();
  const listed = (await runCommands('The ledger')).split('\n').filter(Boolean).toSorted();
  if (lostDebits.length === 0 || listed.join() !== lostDebits.join())
    faults.push(`the ledger lost the debits ${lostDebits.join()}, and the report has ${listed.join()}`);
  return faults;
};
