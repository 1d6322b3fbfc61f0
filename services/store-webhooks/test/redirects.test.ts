import { afterAll, describe, expect, test } from 'vitest';
import { startStandIn } from './simulate/stand-in.ts';
import { startService } from './harness.ts';

const standIn = await startStandIn();
const service = await startService({ work: false });
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});

const store = await service.store({
  payments: [
    { kind: 'threedsecureio', baseUrl: standIn.url },
    { kind: 'netcetera', baseUrl: standIn.url },
  ],
});

const targets: [name: string, target: string][] = [
  ['an address', 'https://evil.example/'],
  ['two slashes', '//evil.example/'],
  ['two backslashes', '\\\\evil.example\\'],
  ['a script', 'javascript:alert(1)'],
  ['a line end', 'x\r\nLocation: https://evil.example/'],
  ['a user name', '@evil.example/'],
  ['a full stop of another script', 'https://evil。example/'],
  ['percent-encoding', '%2f%2fevil.example%2f..%2f'],
  ['parent segments', '/../../../../evil.example/?#'],
  ['a very long address', `https://evil.example/${'a'.repeat(7000)}`],
];

interface Challenge {
  /** The provider in the path. */
  provider: string;
  fields: Record<string, string>;
  form: boolean;
  /** Additional fields of the cres. */
  cres?: Record<string, string>;
  headers?: Record<string, string>;
}

let count = 0;

/** Posts the challenge of a registered and confirmed payment with `fields` replaced. Returns the response. */
const postChallenge = async ({ provider, fields, form, cres, headers = {} }: Challenge, result = {}) => {
  const id = `tds-${++count}`;
  const registered = { service: provider, transactionId: id, orderId: 'o-1' };
  await service.admin('POST', `/v1/stores/${store.id}/payments`, registered);
  standIn.results.set(id, { transStatus: 'Y', authenticationValue: 'AAkBB+Y/A=', eci: '05', ...result });
  const ownCres = Buffer.from(
    JSON.stringify({ threeDSServerTransID: id, transStatus: 'Y', ...cres }),
  ).toString('base64url');
  const sent = { service: provider, cres: ownCres, ...(form ? {} : { transactionId: id }), ...fields };
  const answer = await service.hook(
    `payment-auth-completed/${provider}`,
    store.webhookToken,
    form ? new URLSearchParams(sent).toString() : sent,
    { ...headers, 'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json' },
  );
  return { status: answer.status, location: answer.headers.get('location'), body: await answer.text() };
};

/** Expects a redirect to a page of the shop with the right parameters, or no redirect. */
const expectShopPage = ({ status, location, body }: Awaited<ReturnType<typeof postChallenge>>) => {
  if (location === null) {
    expect([status, body]).toEqual([200, '{}']);
    return;
  }
  const { origin, username, pathname, searchParams, hash } = new URL(location);
  expect([status, origin, username, hash]).toEqual([302, 'https://shop.example.test', '', '']);
  expect(pathname).toMatch(/^\/checkout\/payment-verification\/(success|failure)$/);
  expect([...searchParams.keys()].join()).toBe(pathname.endsWith('success') ? 'cavv,eci' : 'msg');
};

/** Fields of the contract and of the browser form, and fields that an attacker may try. */
const bodyFields = ['service', 'cres', 'CRes', 'transactionId', 'threeDSSessionData'];
const attackedFields = [
  'storeUrl',
  'store_url',
  'redirect',
  'returnUrl',
  'notificationURL',
  'msg',
  'cavv',
  'eci',
];
const cresFields = ['threeDSServerTransID', 'acsTransID', 'messageVersion', 'transStatus', 'redirect'];

describe.each(['threedsecureio', 'netcetera'])('%s', (provider) => {
  describe.each(targets)('%s', (_name, evil) => {
    test.each(bodyFields)('in %s of a form and of JSON leads to the page of the shop', async (field) => {
      for (const form of [true, false])
        expectShopPage(await postChallenge({ provider, fields: { [field]: evil }, form }));
    });

    test('in unknown fields changes nothing', async () => {
      const fields = Object.fromEntries(attackedFields.map((field) => [field, evil]));
      for (const form of [true, false]) {
        const answer = await postChallenge({ provider, fields, form });
        expectShopPage(answer);
        expect(answer.location).toContain('/success?');
      }
    });

    test.each(cresFields)('in %s of the cres leads to the page of the shop', async (field) => {
      for (const form of [true, false])
        expectShopPage(await postChallenge({ provider, fields: {}, form, cres: { [field]: evil } }));
    });

    test.each(['authenticationValue', 'eci', 'transStatus'])(
      'in %s of the provider leads to the page of the shop',
      async (name) => {
        expectShopPage(await postChallenge({ provider, fields: {}, form: true }, { [name]: evil }));
      },
    );
  });

  test.each(['host', 'x-forwarded-host', 'x-forwarded-proto', 'forwarded', 'origin', 'referer'])(
    'a header %s leads to the page of the shop',
    async (name) => {
      const answer = await postChallenge({
        provider,
        fields: {},
        form: true,
        headers: { [name]: 'evil.example' },
      });
      expectShopPage(answer);
      expect(answer.location).toContain('/success?');
    },
  );
});
