import { expect, test } from 'vitest';
import { holdAt } from './hold.ts';
import { startService } from './harness.ts';
import { startStandIn } from './simulate/stand-in.ts';

const pos = (baseUrl: string) => ({
  kind: 'blaze',
  baseUrl,
  credentials: { apiKey: 'a', authorization: 'b' },
});
const usersOf = async (service: Awaited<ReturnType<typeof startService>>, id: string) =>
  (await service.admin('GET', `/v1/stores/${id}/users`)).body['users'];

test.each([
  ['with a version', { modified: 1 }, { modified: 2 }],
  ['without versions', {}, {}],
])(
  'an import that read an older profile %s does not overwrite a member_updated that arrived meanwhile',
  async (_name, old, changed) => {
    await using standIn = await startStandIn();
    await using service = await startService();
    const { id, webhookToken } = await service.store({
      pos: pos(standIn.url),
      customerImportsEnabled: true,
    });
    standIn.members.set('m-1', { id: 'm-1', email: 'old@example.test', firstName: 'Old', ...old });
    await using hold = await holdAt(service.databaseUrl, { trigger: 'before insert on users for each row' });
    await service.hook('new_member', webhookToken, { id: 'm-1', email: 'old@example.test', ...old });
    await hold.reached();
    await service.hook('member_updated', webhookToken, { id: 'm-1', email: 'new@example.test', ...changed });
    const { sql } = service.context.database;
    // Waits until the update was applied or waits for the import.
    await expect
      .poll(
        () => sql`
          select from members where email = 'new@example.test' union all
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
            and wait_event <> 'advisory'`,
      )
      .toHaveLength(1);
    await hold.open();
    await service.settled();
    expect(await usersOf(service, id)).toMatchObject([{ email: 'new@example.test', firstName: 'Old' }]);
  },
);

test('an import uses a member_updated that arrived during the request to the POS', async () => {
  await using standIn = await startStandIn();
  await using service = await startService();
  const { id, webhookToken } = await service.store({ pos: pos(standIn.url), customerImportsEnabled: true });
  standIn.members.set('m-1', { id: 'm-1', email: 'old@example.test' });
  await using hold = await holdAt(service.databaseUrl, {
    trigger: 'before update on import_jobs for each row when (new.attempts > old.attempts)',
  });
  await service.hook('new_member', webhookToken, { id: 'm-1', email: 'old@example.test' });
  await hold.reached();
  await service.hook('member_updated', webhookToken, { id: 'm-1', email: 'new@example.test', modified: 5 });
  const { sql } = service.context.database;
  await expect.poll(() => sql`select from members where email = 'new@example.test'`).toHaveLength(1);
  standIn.members.set('m-1', { id: 'm-1', email: 'old@example.test', modified: 4 });
  await hold.open();
  await service.settled();
  expect(await usersOf(service, id)).toMatchObject([{ email: 'new@example.test' }]);
});

test('a profile that a POS returns without a version gets the version of the event', async () => {
  await using standIn = await startStandIn();
  await using service = await startService();
  const { id, webhookToken } = await service.store({ pos: pos(standIn.url) });
  await service.admin('POST', `/v1/stores/${id}/users`, {
    consumerUserId: 'm-1',
    email: 'first@example.test',
  });
  await service.hook('member_updated', webhookToken, { id: 'm-1', email: 'new@example.test', modified: 7 });
  await service.settled();
  standIn.members.set('m-1', { id: 'm-1', email: 'old@example.test' });
  await service.hook('new_member', webhookToken, { id: 'm-1', email: 'old@example.test', modified: 5 });
  await service.settled();
  expect(await usersOf(service, id)).toMatchObject([{ email: 'new@example.test' }]);
});
