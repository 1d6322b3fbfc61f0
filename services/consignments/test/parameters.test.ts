import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const lists = ['consignments', 'partners', 'inventory', 'warehouses'];
const uuid = '0198C5A0-7e57-7000-8000-0000000000c1';
const encoded = encodeURIComponent;

const refused = async (path: string): Promise<string[]> => {
  const { status, body, headers } = await service.read(path);
  expect([path, status, headers['content-type']]).toEqual([path, 400, 'application/problem+json']);
  expect(body.code).toBe('validation_failed');
  const names = Object.keys(body.errors as object);
  for (const name of names) expect(body.detail).toContain(`${name}: `);
  return names;
};

describe.each(lists)('GET /v1/%s', (list) => {
  test.each([
    ['PageIndex', 'PageIndex=-1'],
    ['PageIndex', 'PageIndex=2147483648'],
    ['PageIndex', 'PageIndex=99999999999999999999'],
    ['PageIndex', 'PageIndex=1.0'],
    ['PageIndex', 'PageIndex=01'],
    ['PageIndex', 'PageIndex=1e2'],
    ['PageIndex', 'PageIndex='],
    ['PageIndex', 'PageIndex'],
    ['PageIndex', 'PageIndex=+1'],
    ['PageIndex', 'pageindex=x'],
    ['PageIndex', 'PageIndex=1&PageIndex=1'],
    ['PageIndex', 'PageIndex=1&PAGEINDEX=2'],
    ['PageIndex', `PageIndex=${encoded('1\0')}`],
    ['PageSize', 'PageSize=0'],
    ['PageSize', 'PageSize=501'],
    ['PageSize', 'PAGESIZE=-5'],
    ['PageSize', 'PageSize=ten'],
    ['page', 'page=1'],
    ['Limit', 'Limit=1'],
    ['PageIndex[]', 'PageIndex[]=1'],
    ['__proto__', '__proto__=1'],
    ['constructor', 'constructor=1'],
    ['', '=1'],
    ['SearchText', 'SearchText='],
    ['SearchText', 'SearchText=%20%20'],
    ['SearchText', `SearchText=${'x'.repeat(201)}`],
    ['SearchText', `SearchText=${encoded('😀'.repeat(201))}`],
    ['SearchText', 'SearchText=a%00b'],
    ['SearchText', 'SearchText=a%0A'],
    ['SearchText', 'SearchText=%09a'],
    ['SearchText', 'SearchText=a%1Fb'],
    ['SearchText', 'SearchText=a%7Fb'],
    ['SearchText', 'SearchText=a%C2%85b'],
    ['SearchText', 'SearchText=a&searchtext=b'],
  ])('returns 400 that names %s: ?%s', async (name, query) => {
    expect(await refused(`/${list}?${query}`)).toEqual([name]);
  });

  test('names all errors at once', async () => {
    expect((await refused(`/${list}?pageSIZE=0&PageIndex=x&colour=red`)).toSorted()).toEqual([
      'PageIndex',
      'PageSize',
      'colour',
    ]);
  });

  test.each(['%', '%C3', '%zz', 'SearchText=%ff'])(
    'refuses a query that cannot be decoded: ?%s',
    async (query) => {
      const { status, body } = await service.read(`/${list}?${query}`);
      expect([status, body.code]).toEqual([400, 'bad_encoding']);
    },
  );

  test('accepts names in any case, and the smallest and largest values', async () => {
    const { body } = await service
      .read(`/${list}?pageindex=2147483647&PAGESIZE=500&searchTEXT=x`)
      .expect(200);
    expect(body).toStrictEqual({ index: 2_147_483_647, total: 0, [list]: [] });
    await service.read(`/${list}?SearchText=${encoded(` ${'😀'.repeat(200)} `)}`).expect(200);
  });
});

describe('a filter', () => {
  test.each([
    [
      'consignments',
      'ClientId',
      ['7', '', 'null', `${uuid}x`, encoded(`{${uuid}}`), uuid.replaceAll('-', ''), '*'],
    ],
    ['consignments', 'CarrierId', ['7', `${uuid},${uuid}`]],
    ['consignments', 'WarehouseId', ['7', `${uuid}%00`]],
    [
      'consignments',
      'Status',
      ['', 'booked', '1,2', '1.5', '01', '1e1', '2147483648', '-2147483649', '0x1', '%201', '-0'],
    ],
    ['consignments', 'EdiStatus', ['none', '99999999999999999999', 'NaN']],
    ['consignments', 'ExternalId', ['', 'x'.repeat(201), 'a%00']],
    ['partners', 'Relationship', ['client', '', '1;2']],
    ['partners', 'Status', ['active', 'true']],
    ['inventory', 'PartnerId', ['7']],
    ['inventory', 'WarehouseId', ['7']],
    ['inventory', 'PartnerProductId', ['', '%00']],
    ['inventory', 'IncludeDepleted', ['', '1', 'yes', 'TRUE', 'null']],
    ['warehouses', 'Status', ['open', '1%00']],
  ])('of /v1/%s with an invalid value returns 400 that names it: %s', async (list, name, values) => {
    for (const value of values)
      expect(await refused(`/${list}?${name.toLowerCase()}=${value}`)).toEqual([name]);
    expect(await refused(`/${list}?${name}=1&${name}=1`)).toEqual([name]);
  });

  test.each([
    ['partners', ['ClientId', 'EdiStatus', 'IncludeDepleted']],
    ['inventory', ['Status', 'ClientId', 'ExternalId']],
    ['warehouses', ['WarehouseId', 'Relationship']],
    ['consignments', ['PartnerId', 'Relationship', 'IncludeDepleted']],
  ])('of another list is not known to /v1/%s', async (list, names) => {
    for (const name of names) expect(await refused(`/${list}?${name}=1`)).toEqual([name]);
  });

  test.each([
    `consignments?ClientId=${uuid}&CarrierId=${uuid}&WarehouseId=${uuid}&Status=7&EdiStatus=4&ExternalId=x&SearchText=y`,
    'consignments?Status=-2147483648&EdiStatus=2147483647',
    'partners?Relationship=3&Status=0',
    `inventory?PartnerId=${uuid}&PartnerProductId=x&WarehouseId=${uuid}&IncludeDepleted=false`,
    'warehouses?Status=99',
  ])('that no record matches is not an error: %s', async (path) => {
    expect((await service.read(`/${path}`).expect(200)).body).toMatchObject({ index: 0, total: 0 });
  });
});

describe('authorization', () => {
  test.each(lists)('/v1/%s needs a token with consignments:read', async (list) => {
    const { tokens } = service;
    const ask = (token?: string) => {
      const pending = service.read(`/${list}?PageSize=0`);
      return token === undefined
        ? pending.unset('Authorization')
        : pending.set('Authorization', `Bearer ${token}`);
    };
    const missing = await ask();
    expect([missing.status, missing.headers['www-authenticate']]).toEqual([401, 'Bearer realm="platform"']);
    const expired = await ask(await tokens.token({ scope: 'consignments:read', ttl: -60 }));
    expect([expired.status, expired.headers['www-authenticate']]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"') as string,
    ]);
    expect((await ask('junk')).status).toBe(401);
    for (const scope of ['consignments:readx', '', 'quests:read', 'quests:write']) {
      const other = await ask(await tokens.token({ scope }));
      expect([other.status, other.body.detail]).toEqual([
        403,
        expect.stringContaining('consignments:read') as string,
      ]);
    }
    // Callers with the scope get the error of the query.
    for (const scope of ['a consignments:read', 'consignments:write'])
      expect((await ask(await tokens.token({ scope }))).status).toBe(400);
  });

  test('management needs consignments:write', async () => {
    const reading = `Bearer ${await service.tokens.token({ scope: 'consignments:read' })}`;
    const address = `/consignments/${uuid}`;
    for (const call of [
      service.patch(address, {}),
      service.delete(address),
      service.post('/consignments', {}),
    ]) {
      const { status, body } = await call.set('Authorization', reading);
      expect([status, body.detail]).toEqual([403, expect.stringContaining('consignments:write') as string]);
    }
    await service.get(address).set('Authorization', reading).expect(404);
    await service.get(address).unset('Authorization').expect(401);
  });
});
