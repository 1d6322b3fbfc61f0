import { createSecretBox } from '@platform/auth/secret-box';
import { afterAll, expect, test } from 'vitest';
import { credentialsContext } from '../src/stores/known-store.ts';
import { startService } from './harness.ts';

const service = await startService();
afterAll(() => service[Symbol.asyncDispose]());

const input = {
  name: 'Corner shop',
  storeUrl: 'https://corner.example.test/',
  pos: {
    kind: 'blaze',
    baseUrl: 'https://pos.example.test/v1',
    credentials: { apiKey: 'a', authorization: 'b' },
  },
  delivery: {
    kind: 'onfleet',
    baseUrl: 'https://drive.example.test',
    credentials: { webhookSecret: 'ab12' },
  },
  identity: { kind: 'persona', baseUrl: 'https://id.example.test', credentials: { apiKey: 'c' } },
  payments: { kind: 'threedsecureio', baseUrl: 'https://3ds.example.test', credentials: { apiKey: 'd' } },
};
const elsewhere = 'https://attacker.example.test';

const create = async () => (await service.admin('POST', '/v1/stores', input)).body['id'] as unknown as string;
const change = async (id: string, body: object) =>
  (await service.admin('PATCH', `/v1/stores/${id}`, body)).body;

/** The stored credentials, decrypted. */
const storedCredentials = async (id: string) => {
  const { database, box } = service.context;
  const [row] = await database.sql<
    { credentials: string }[]
  >`select credentials from stores where id = ${id}`;
  return JSON.parse(box.open(row?.credentials ?? '', `stores/${id}/credentials`) ?? '') as object;
};

test.each([
  ['pos', ['pos.apiKey', 'pos.authorization']],
  ['identity', ['identity.persona.apiKey']],
  ['payments', ['payments.threedsecureio.apiKey']],
] as const)('a new origin of %s clears its credentials, and the answer names them', async (slot, names) => {
  const id = await create();
  const before = await storedCredentials(id);
  const { kind } = input[slot];
  expect(await change(id, { [slot]: { kind, baseUrl: elsewhere } })).toMatchObject({
    clearedCredentials: names,
  });
  const after = await storedCredentials(id);
  expect(Object.keys(before).filter((name) => !(name in after))).toEqual([names[0].replace(/\.\w+$/, '')]);
});

test('an id in upper case names the same store, whose credentials stay readable', async () => {
  const id = await create();
  const before = await storedCredentials(id);
  await service.admin('PATCH', `/v1/stores/${id.toUpperCase()}`, { name: 'Another name' });
  expect(await storedCredentials(id)).toEqual(before);
});

test('another path at the same origin keeps the credentials; another scheme or port does not', async () => {
  const id = await create();
  const move = async (baseUrl: string) =>
    (await change(id, { pos: { kind: 'blaze', baseUrl } }))['clearedCredentials'];
  expect(await move('https://pos.example.test/v2')).toEqual([]);
  expect(await move('https://pos.example.test:8443/v2')).toEqual(['pos.apiKey', 'pos.authorization']);
  await change(id, { pos: input.pos });
  expect(await move('http://pos.example.test/v1')).toEqual(['pos.apiKey', 'pos.authorization']);
});

test('credentials sent with a new origin are stored, and the answer names those that were left out', async () => {
  const id = await create();
  const body = await change(id, {
    pos: { kind: 'blaze', baseUrl: elsewhere, credentials: { apiKey: 'new' } },
  });
  expect(body).toMatchObject({ pos: { credentials: ['apiKey'] }, clearedCredentials: ['pos.authorization'] });
  expect(await storedCredentials(id)).toMatchObject({ pos: { apiKey: 'new' } });
});

test('a provider keeps its signature secret at a new origin, because it is never sent; another kind of provider does not', async () => {
  const id = await create();
  const identity = { kind: 'persona', baseUrl: 'https://id.example.test' };
  await change(id, { identity: { ...identity, credentials: { apiKey: 'c', webhookSecret: 's' } } });
  expect(await change(id, { identity: { ...identity, baseUrl: elsewhere } })).toMatchObject({
    identity: [{ credentials: ['webhookSecret'] }],
    clearedCredentials: ['identity.persona.apiKey'],
  });
  expect(await change(id, { identity: { kind: 'veriff' } })).toMatchObject({
    clearedCredentials: ['identity.persona.webhookSecret'],
  });
});

test('two providers of one kind, which would share credentials, are refused', async () => {
  const id = await create();
  for (const role of ['identity', 'payments'] as const) {
    const { credentials: _, ...provider } = input[role];
    const both = { [role]: [{ ...provider, baseUrl: elsewhere }, provider] };
    const errors = { [role]: ['must name each kind at most once'] };
    expect(await service.admin('PATCH', `/v1/stores/${id}`, both)).toMatchObject({
      status: 400,
      body: { errors },
    });
    expect(await service.admin('POST', '/v1/stores', { ...input, ...both })).toMatchObject({ status: 400 });
  }
});

test('a provider that is removed and added again at another origin has no credentials', async () => {
  const id = await create();
  expect(await change(id, { identity: [] })).toMatchObject({
    clearedCredentials: ['identity.persona.apiKey'],
  });
  await change(id, { identity: { kind: 'persona', baseUrl: elsewhere } });
  expect(await storedCredentials(id)).not.toHaveProperty(['identity.persona']);
});

// Longer than any text that may occur by chance in a random request id.
test.each(['xyz-of-the-shop', 'abcdefabcdefabc', '0xabcdefabcdef', 'abcdef abcdef'])(
  'an Onfleet secret that is not hexadecimal (%j) is refused by name when it is stored',
  async (webhookSecret) => {
    const delivery = { kind: 'onfleet', credentials: { webhookSecret } };
    const refused = await service.admin('POST', '/v1/stores', { ...input, delivery });
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: { 'delivery.credentials.webhookSecret': [expect.any(String)] } },
    });
    const id = await create();
    expect((await service.admin('PATCH', `/v1/stores/${id}`, { delivery })).status).toBe(400);
    expect(JSON.stringify(refused.body)).not.toContain(webhookSecret);
  },
);

test('a credential that the provider does not use is refused by name', async () => {
  const delivery = { kind: 'onfleet', credentials: { webhookSecrets: 'ab12' } };
  expect(await service.admin('POST', '/v1/stores', { ...input, delivery })).toMatchObject({
    status: 400,
    body: { errors: { 'delivery.credentials.webhookSecrets': ['unknown field'] } },
  });
});

test('null removes one credential of an identity or payment provider, or all, and leaves the others', async () => {
  const id = await create();
  const both = { apiKey: 'c', webhookSecret: 's' };
  const persona = { kind: 'persona', baseUrl: 'https://id.example.test' };
  await change(id, { identity: [{ ...persona, credentials: both }, { kind: 'veriff' }] });
  const others = await storedCredentials(id);
  expect(await change(id, { identity: { ...persona, credentials: { webhookSecret: null } } })).toMatchObject({
    clearedCredentials: ['identity.persona.webhookSecret'],
    identity: [{ kind: 'persona', credentials: ['apiKey'] }],
  });
  expect(await storedCredentials(id)).toEqual({ ...others, 'identity.persona': { apiKey: 'c' } });
  expect(await change(id, { payments: { ...input.payments, credentials: null } })).toMatchObject({
    clearedCredentials: ['payments.threedsecureio.apiKey'],
    payments: [{ kind: 'threedsecureio', credentials: [] }],
  });
  const wrong = { identity: { ...persona, credentials: { apiKey: 'ü', webhookSecret: null } } };
  expect((await service.admin('PATCH', `/v1/stores/${id}`, wrong)).status).toBe(400);
  const created = { ...input, identity: { ...persona, credentials: { apiKey: null } } };
  expect((await service.admin('POST', '/v1/stores', created)).status).toBe(400);
});

const error = 'The credentials of the store cannot be decrypted; check SECRETS_KEY.';
const order = (id: string) => ({ id, status: 'PENDING', cart: { items: [] } });

type Service = Awaited<ReturnType<typeof startService>>;

/** Encrypts the credentials of a store with a key that the service does not have. */
const lock = async ({ context }: Service, id: string): Promise<void> => {
  const credentials = createSecretBox('cd'.repeat(32)).seal('{}', credentialsContext(id));
  await context.database.sql`update stores set credentials = ${credentials} where id = ${id}`;
};

test('events of a store whose credentials cannot be decrypted wait; those of other stores are processed', async () => {
  await using service = await startService({ variables: { RETRY_BASE_MS: '60000' } });
  const [locked, other] = [await service.store(), await service.store()];
  await lock(service, locked.id);
  for (const { webhookToken } of [locked, other])
    expect((await service.hook('order_updated', webhookToken, order('o-1'))).status).toBe(200);

  const eventsOf = async (id: string) =>
    (await service.admin('GET', `/v1/stores/${id}/events`)).body['events'];
  await expect.poll(() => eventsOf(other.id)).toMatchObject([{ status: 'done' }]);
  await expect.poll(() => eventsOf(locked.id)).toMatchObject([{ status: 'pending', attempts: 1, error }]);
});

test('a store whose credentials cannot be decrypted is listed with that state', async () => {
  await using service = await startService({ work: false });
  const [locked, other] = [await service.store(), await service.store()];
  await lock(service, locked.id);
  const shown = await service.admin('GET', '/v1/stores');
  expect(shown).toMatchObject({
    status: 200,
    body: {
      stores: [
        { id: other.id, credentialsState: 'readable' },
        { id: locked.id, credentialsState: 'unreadable', pos: { kind: 'blaze', credentials: [] } },
      ],
    },
  });
  expect((await service.admin('GET', `/v1/stores/${locked.id}`)).body).toMatchObject({
    credentialsState: 'unreadable',
  });
});

test('a webhook whose signature cannot be verified without the credentials is answered with 503, not accepted', async () => {
  await using service = await startService({ work: false });
  const { id, webhookToken } = await service.store({
    pos: { kind: 'square', credentials: { webhookSecret: 'k' } },
  });
  await lock(service, id);
  const answer = await service.hook('member_updated', webhookToken, { event_id: 'e-1' });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).not.toBeNull();
  expect(await answer.json()).toMatchObject({ code: 'credentials_unreadable', detail: error });
});

test('a change that needs the unreadable credentials is rejected; one that sends all of them again repairs the store', async () => {
  await using service = await startService({ work: false });
  const { id } = await service.store({ pos: { kind: 'blaze', credentials: { apiKey: 'a' } } });
  await lock(service, id);
  expect(await service.admin('PATCH', `/v1/stores/${id}`, { name: 'New name' })).toMatchObject({
    status: 503,
    body: { code: 'credentials_unreadable' },
  });
  const pos = { kind: 'blaze', credentials: { apiKey: 'b' } };
  expect(await service.admin('PATCH', `/v1/stores/${id}`, { pos })).toMatchObject({
    status: 200,
    body: { credentialsState: 'readable', pos: { credentials: ['apiKey'] }, clearedCredentials: [] },
  });
});
