import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '@platform/service-kit/log';
import { createIds } from '../src/inbox/event.ts';
import { createSpool } from '../src/inbox/spool/spool.ts';
import { receivedEventOf } from './received-event.ts';

/**
 * A process with only a spool, for tests that kill it: `node spool-process.ts FOLDER COUNT`. The
 * database counts as available while the file `FOLDER.up` exists. Prints `acknowledged ID` and `stored ID`, adds
 * COUNT events, and exits when the spool is empty.
 */
const [folder = '', count = '0'] = process.argv.slice(2);

const nextId = createIds();

const print = (line: string): Promise<void> =>
  new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()));

const spool = createSpool({
  folder,
  maxBytes: 1e9,
  log: createLog('spool', 'silent'),
  pauseMs: 5,
  store: async (events) => {
    if (!existsSync(`${folder}.up`)) throw new Error('The database is unavailable.');
    for (const { entity } of events) await print(`stored ${entity}`);
  },
});
await spool.recover();
await print('ready');
for (let at = 0; at < Number(count); at++) {
  const receipt = receivedEventOf({
    id: nextId(Date.now()),
    entity: `${process.argv[4] ?? 'order'}-${at}`,
    body: Buffer.from(JSON.stringify({ at })),
  });
  await spool.add(receipt).then(
    () => print(`acknowledged ${receipt.entity}`),
    () => undefined,
  );
  await sleep(2);
}
while (spool.active) await sleep(5);
await print('empty');
await spool[Symbol.asyncDispose]();
