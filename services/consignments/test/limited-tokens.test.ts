import postgres from 'postgres';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startService, type Service } from './harness.ts';
import { consignmentInput, ids, inventoryInput, partnerInput, warehouseInput } from './inputs.ts';

let service: Service;
const clients: string[] = [];
const made: Record<'consignments' | 'inventory', string[]> = { consignments: [], inventory: [] };
let warehouse: string;
const create = async (path: string, body: object) =>
  ((await service.post(path, body).expect(201)).body as { id: string }).id;

beforeAll(async () => {
  service = await startService();
  for (const name of ['Ours', 'Theirs', 'Third']) {
    const client = await create('/partners', partnerInput({ name }));
    clients.push(client);
    made.consignments.push(
      await create('/consignments', consignmentInput({ clientId: client, clientName: name, status: 1 })),
    );
    made.inventory.push(await create('/inventory', inventoryInput({ partnerId: client })));
  }
  warehouse = await create('/warehouses', warehouseInput());
});
afterAll(() => service[Symbol.asyncDispose]());

/** Statements that wait for a lock. */
const waiting = async (): Promise<number> => {
  const rows = await service.context.database.sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return rows.length;
};

const lists = ['consignments', 'inventory', 'partners'] as const;
const idOf = (list: (typeof lists)[number], client: number): string =>
  (list === 'partners' ? clients : made[list])[client] ?? '';
const limitedTo = (...numbers: number[]) => service.limitedTo(...numbers.map((n) => clients[n] ?? ''));

describe('a token with the claim clients', () => {
  test('sees the records of these clients in lists and totals, with any filter', async () => {
    const filters = {
      consignments: [
        '',
        'Status=1',
        'SearchText=s',
        'SearchText=CN-1',
        'ExternalId=none',
        `WarehouseId=${ids.warehouse}`,
      ],
      inventory: [
        '',
        'IncludeDepleted=true',
        `WarehouseId=${ids.warehouse}`,
        'SearchText=tul',
        'SearchText=tu',
        'PartnerProductId=tulip-red-50',
      ],
      partners: ['', 'Relationship=0', 'Status=1', 'SearchText=e'],
    };
    for (const numbers of [[0], [0, 2], [0, 1, 2], []]) {
      const token = await limitedTo(...numbers);
      for (const list of lists)
        for (const filter of filters[list]) {
          const all = (await service.read(`/${list}?${filter}`).expect(200)).body as Record<
            string,
            { id: string }[]
          >;
          const { body } = await token.get(`/${list}?${filter}`).expect(200);
          const visible = (all[list] ?? []).filter(({ id }) => numbers.some((n) => idOf(list, n) === id));
          expect([list, filter, body.total, body[list]]).toEqual([list, filter, visible.length, visible]);
        }
    }
  });

  test('sees nothing of another client by its own filter', async () => {
    const token = await limitedTo(0);
    for (const [path, total] of [
      [`/consignments?ClientId=${clients[0]}`, 1],
      [`/consignments?ClientId=${clients[0]?.toUpperCase()}&Status=1`, 1],
      [`/consignments?ClientId=${clients[1]}`, 0],
      [`/consignments?ClientId=${clients[1]}&SearchText=the`, 0],
      [`/inventory?PartnerId=${clients[1]}`, 0],
      [`/inventory?PartnerId=${clients[1]}&IncludeDepleted=true`, 0],
      [`/warehouses`, 1],
    ] as const)
      expect([path, (await token.get(path).expect(200)).body.total]).toEqual([path, total]);
  });

  test('gets 404 for any other record in every operation with an id, as for an unknown id', async () => {
    const token = await limitedTo(0);
    const operations = Object.entries(
      (service.document() as unknown as { paths: Record<string, object> }).paths,
    ).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ path, method: method as 'get' | 'post' | 'patch' | 'delete' })),
    );
    const others = operations.filter(({ path }) =>
      /^\/(?:v1\/)?(?:consignments|inventory|partners)\/\{id\}/.test(path),
    );
    expect(others.length).toBeGreaterThanOrEqual(9);
    for (const { path, method } of others) {
      const list = lists.find((name) => path.includes(name)) ?? 'partners';
      const address = (id: string) =>
        path
          .replace(/^\/v1/, '')
          .replace('{id}', id)
          .replaceAll(/\{\w+\}/g, ids.client);
      const body = { quantity: 1, reserved: 0, reference: 'mine' };
      const send = (id: string) => {
        const request = token[method](address(id));
        if (method === 'post') return request.send(body);
        return method === 'patch' ? request.send({}) : request;
      };
      const [other, unknown] = [await send(idOf(list, 1)), await send(ids.client)];
      expect([path, method, other.status, other.body.detail]).toEqual([
        path,
        method,
        404,
        unknown.body.detail,
      ]);
    }
    for (const list of lists) await service.read(`/${list}/${idOf(list, 1)}`).expect(200);
  });

  test('changes records of its clients, and assigns none to other clients', async () => {
    const token = await limitedTo(0);
    const ours = `/consignments/${made.consignments[0]}`;
    await token.patch(ours).send({ reference: 'PO 1' }).expect(200);
    await token.patch(`/partners/${clients[0]}`).send({ code: 'OURS' }).expect(200);
    const own = await token
      .post('/inventory')
      .send(inventoryInput({ partnerId: clients[0] }))
      .expect(201);
    await token.delete(`/inventory/${own.body.id}`).expect(204);
    const theirs = consignmentInput({ clientId: clients[1], clientName: 'Theirs' });
    for (const refused of [
      token.post('/consignments').send(theirs),
      token.patch(ours).send({ clientId: clients[1] }),
      token.post('/inventory').send(inventoryInput({ partnerId: clients[1] })),
      token.patch(`/inventory/${made.inventory[0]}`).send({ partnerId: clients[1] }),
      token.post('/partners').send(partnerInput()),
      token.post('/warehouses').send(warehouseInput()),
      token.patch(`/warehouses/${warehouse}`).send({ city: 'Tartu' }),
      token.delete(`/warehouses/${warehouse}`),
    ])
      expect((await refused.expect(403)).body.code).toBe('limited_to_clients');
  });

  test('imports for its clients only, and cannot refer to stock of others', async () => {
    const token = await limitedTo(0);
    const lines = [
      consignmentInput({ clientId: clients[0], clientName: 'Ours' }),
      consignmentInput({ clientId: clients[1], clientName: 'Theirs' }),
      consignmentInput({
        clientId: clients[0],
        clientName: 'Ours',
        lines: [{ productId: made.inventory[1], quantity: 1 }],
      }),
      consignmentInput({
        clientId: clients[0],
        clientName: 'Ours',
        lines: [{ productId: made.inventory[0], quantity: 1 }],
      }),
    ];
    const { text } = await token
      .post('/consignments/import')
      .set('Content-Type', 'application/x-ndjson')
      .send(lines.map((line) => JSON.stringify(line)).join('\n'))
      .buffer(true)
      .expect(200);
    const errors = text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { error?: string }).error);
    expect(errors).toEqual([undefined, 'limited_to_clients', 'unknown_product', undefined]);
    const { body } = await token.post('/consignments').send(lines[2]).expect(422);
    expect(body.code).toBe('unknown_product');
    await token
      .patch(`/consignments/${made.consignments[0]}`)
      .send({ lines: [{ productId: made.inventory[1], quantity: 1 }] })
      .expect(422);
  });

  test('reads no results of lines that an unlimited token of its subject has imported', async () => {
    const ours = JSON.stringify(consignmentInput({ clientId: clients[0], clientName: 'Ours' }));
    const theirs = JSON.stringify(consignmentInput({ clientId: clients[1], clientName: 'Theirs' }));
    const importer = async (...limits: number[][]) => {
      const claims = Object.fromEntries(limits.map((some) => ['clients', some.map((n) => clients[n])]));
      const token = await service.tokens.token({ scope: 'consignments:write', sub: 'importer', claims });
      return supertest.agent(`${service.url}/v1`).auth(token, { type: 'bearer' });
    };
    const importLine = async (agent: ReturnType<typeof supertest.agent>, line: string) => {
      const headers = { 'Content-Type': 'application/x-ndjson', 'Import-Id': 'shared' };
      return agent.post('/consignments/import').set(headers).send(line).buffer(true).expect(200);
    };
    const results = '/consignments/imports/shared/results';
    await importLine(await importer(), theirs);
    await (await importer([0, 2])).get(results).expect(404);
    const { text } = await importLine(await importer([0, 2]), ours);
    expect((await (await importer([2, 0])).get(results).buffer(true).expect(200)).text).toBe(text);
    await (await importer([2])).get(results).expect(404);
  });

  test('neither sees nor moves the stock of another client, also if another caller added such a line to its consignment', async () => {
    const id = await create(
      '/consignments',
      consignmentInput({
        clientId: clients[0],
        clientName: 'Ours',
        status: 0,
        lines: [{ productId: made.inventory[1], quantity: 2_000_000_000 }],
      }),
    );
    const token = await limitedTo(0);
    const { body } = await token.patch(`/consignments/${id}`).send({ status: 1 }).expect(422);
    expect([body.code, body.left]).toEqual(['unknown_product', undefined]);
    await service.patch(`/consignments/${id}`, { status: 1 }).expect(409);
  });

  test('sees the units of a movement by a consignment of another client, but neither reason nor author', async () => {
    const item = await create('/inventory', inventoryInput({ partnerId: clients[0], quantity: 9 }));
    for (const [clientId, clientName] of [
      [clients[0], 'Ours'],
      [clients[1], 'Theirs'],
    ]) {
      const lines = [{ productId: item, quantity: 2 }];
      const id = await create('/consignments', consignmentInput({ clientId, clientName, status: 0, lines }));
      await service.patch(`/consignments/${id}`, { status: 1, reason: `Of ${clientName}` }).expect(200);
    }
    const path = `/inventory/${item}/movements`;
    await service.post(path, { quantity: 1, reference: 'DN-1', reason: 'Counted' }).expect(201);
    interface Movement {
      id: string;
      reason: string;
    }
    const all = (await service.read(path).expect(200)).body as { total: number; movements: Movement[] };
    const hidden = { reason: null, consignmentId: null, createdBy: null };
    const visible = all.movements.map((each) =>
      each.reason === 'Of Theirs' ? { ...each, ...hidden } : each,
    );
    expect(visible).not.toEqual(all.movements);
    const token = await limitedTo(0);
    expect((await token.get(path).expect(200)).body).toEqual({ ...all, movements: visible });
    for (const movement of visible)
      expect((await token.get(`${path}/${movement.id}`).expect(200)).body).toEqual(movement);
  });

  test.each<
    [
      string,
      string,
      string,
      (id: string) => [method: 'get' | 'patch' | 'post' | 'delete', path: string, body?: object],
    ]
  >([
    ['read', 'consignments', 'consignment_details', (id) => ['get', `/consignments/${id}`]],
    ['changed', 'consignments', '', (id) => ['patch', `/consignments/${id}`, { reference: 'Mine' }]],
    ['deleted', 'inventory', '', (id) => ['delete', `/inventory/${id}`]],
    [
      'moved',
      'inventory',
      '',
      (id) => ['post', `/inventory/${id}/movements`, { quantity: 1, reference: 'a' }],
    ],
    [
      'listed with its movements',
      'inventory',
      'stock_movements',
      (id) => ['get', `/inventory/${id}/movements`],
    ],
    [
      'listed with its history',
      'consignments',
      'status_changes',
      (id) => ['get', `/consignments/${id}/history`],
    ],
  ])(
    'gets 404 for a record that is assigned to another client while it is %s',
    async (_, list, table, request) => {
      const [given, field] =
        list === 'inventory'
          ? [inventoryInput({ partnerId: clients[0] }), 'partner_id']
          : [consignmentInput({ clientId: clients[0], clientName: 'Ours' }), 'client_id'];
      const id = await create(`/${list}`, given);
      const [method, path, body] = request(id);
      const token = await limitedTo(0);
      const other = postgres(service.databaseUrl, { max: 1 });
      const { answer } = await other.begin(async (tx) => {
        if (table === '') await tx`select from ${tx(list)} where id = ${id} for update`;
        else await tx`lock table ${tx(table)} in access exclusive mode`;
        const sent = Promise.resolve(token[method](path).send(body));
        await vi.waitUntil(async () => (await waiting()) > 0, { timeout: 10_000 });
        await tx`update ${tx(list)} set ${tx(field)} = ${clients[1] ?? ''} where id = ${id}`;
        return { answer: sent };
      });
      await other.end();
      expect(await answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
      await service.read(`/${list}/${id}`).expect(200);
    },
  );

  test('that is not a list of ids is refused', async () => {
    const token = await service.tokens.token({ scope: 'consignments:read', claims: { clients: 'all' } });
    await service.get('/consignments').set('Authorization', `Bearer ${token}`).expect(401);
  });
});
