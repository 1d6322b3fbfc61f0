import { appendFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startPostgres } from '@platform/local/postgres';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startService } from './harness.ts';
import { sendOrder, startProcess } from './process.ts';

const postgres = await startPostgres({ durable: true });
afterAll(() => postgres.stop());

/** The paths of the snapshots beside the spool. */
const savedSnapshots = async (folder: string): Promise<string[]> => {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => name.endsWith('snapshot.json')).map((name) => join(folder, name));
};

test.each(['kill', 'stop'] as const)(
  'after a %s without a database the service still accepts the tokens it knew, and no others',
  async (end) => {
    await using service = await startService({ serverUrl: postgres.url, work: false });
    const [{ id, webhookToken }, other] = [await service.store(), await service.store()];
    await using before = await startProcess(service);
    expect(await sendOrder(before.url, webhookToken, 'before')).toBe(200);
    const hasToken = async () => {
      const files = await savedSnapshots(service.spool);
      return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).some((text) =>
        text.includes(id),
      );
    };
    await expect.poll(hasToken).toBe(true);
    await postgres.kill9();
    await before[end]();
    await using after = await startProcess(service);
    expect(await sendOrder(after.url, webhookToken, 'during')).toBe(200);
    expect(await sendOrder(after.url, other.webhookToken, 'unknown')).toBe(503);
    for (const file of await savedSnapshots(service.spool)) {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
      expect(await readFile(file, 'utf8')).not.toContain(webhookToken);
    }
    await postgres.restart();
    const { sql } = service.context.database;
    const stored = () => sql`select entity from inbox where store_id = ${id} order by id`.catch(() => []);
    await expect.poll(stored).toMatchObject([{ entity: 'order:before' }, { entity: 'order:during' }]);
    expect(await after.stop()).toBe(0);
  },
);

test('a snapshot has each store once, and one that would not fit into memory is not read', async () => {
  await using service = await startService({ serverUrl: postgres.url, work: false });
  // Of these processes alone: the service would take it over.
  const folder = await mkdtemp(join(tmpdir(), 'large-snapshot-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const start = () => startProcess(service, { SPOOL_DIR: folder });
  const { id, webhookToken } = await service.store();
  await using before = await start();
  expect(await sendOrder(before.url, webhookToken, 'first')).toBe(200);
  const path = `/v1/stores/${id}/webhook-token/rotate`;
  const { body } = await service.admin('POST', path, { graceSeconds: 3600 });
  const { webhookToken: second } = body as unknown as { webhookToken: string };
  expect(await sendOrder(before.url, second, 'second')).toBe(200);
  const saved = async () => {
    const [file = ''] = await savedSnapshots(folder);
    const text = file === '' ? '{}' : await readFile(file, 'utf8').catch(() => '{}');
    return { file, ...(JSON.parse(text) as { stores?: object[]; tokens?: object[] }) };
  };
  await expect.poll(async () => (await saved()).tokens).toHaveLength(2);
  const { file, stores } = await saved();
  expect(stores).toMatchObject([{ id }]);
  await postgres.kill9();
  await before.kill();
  await appendFile(file, ' '.repeat(33 * 2 ** 20));
  await using after = await start();
  expect(await sendOrder(after.url, webhookToken, 'third')).toBe(503);
  await postgres.restart();
});

test('a token that was revoked is not accepted after a restart without a database', async () => {
  await using service = await startService({ serverUrl: postgres.url, work: false });
  const { id, webhookToken } = await service.store();
  await using before = await startProcess(service);
  expect(await sendOrder(before.url, webhookToken, 'before')).toBe(200);
  const texts = async () =>
    Promise.all((await savedSnapshots(service.spool)).map((file) => readFile(file, 'utf8').catch(() => '')));
  await expect.poll(async () => (await texts()).join('').includes(id)).toBe(true);
  await service.admin('POST', `/v1/stores/${id}/webhook-token/rotate`, { graceSeconds: 0 });
  await expect.poll(() => sendOrder(before.url, webhookToken, 'revoked')).toBe(404);
  await expect.poll(async () => (await texts()).join('')).toContain('"graceUntil":"');
  await postgres.kill9();
  await before.kill();
  await using after = await startProcess(service);
  expect(await sendOrder(after.url, webhookToken, 'during')).toBe(404);
  await postgres.restart();
});
