import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import request from 'supertest';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { boundedList } from '../src/http/bounded-list.ts';
import { createHttpApp } from '../src/http/app.ts';
import { createDocument } from '../src/http/openapi.ts';
import { anyone, route } from '../src/http/route.ts';
import { startFixture } from './harness.ts';

test('the document describes the routes of the service', async () => {
  await using fixture = await startFixture();
  const answer = await fetch(`${fixture.url}/openapi.json`);
  const document = (await answer.json()) as ReturnType<typeof fixture.document>;
  expect(document).toEqual(JSON.parse(JSON.stringify(fixture.document())));
  expect(document).toMatchObject({
    openapi: '3.0.3',
    servers: [{ url: '/v1' }],
    paths: {
      '/notes': {
        post: { requestBody: { required: true }, responses: { 201: {}, 400: {}, 413: {}, 415: {}, 503: {} } },
      },
      '/notes/{id}': {
        get: {
          parameters: [
            { name: 'id', in: 'path', required: true },
            { name: 'Loud', in: 'query' },
          ],
          responses: {
            200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } } },
            404: {
              content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
            },
          },
        },
      },
    },
  });
});

test('the document of a service with PUBLIC_URL names it in all servers', async () => {
  await using fixture = await startFixture();
  const operation = { operationId: 'read', tag: '', summary: '', auth: anyone, method: 'get' } as const;
  const responses = { 200: { description: '', body: z.object({}) } };
  const { listener } = createHttpApp(
    { ...fixture.context, publicUrl: 'https://api.example.test' },
    {
      api: { title: '', version: '', description: '', tags: {}, basePath: '/api/v1' },
      routes: ['/v1', '/api/v1'].map((basePath) =>
        route({ ...operation, path: `/at${basePath}`, basePath, responses }, () => ({
          status: 200,
          body: {},
        })),
      ),
    },
  );
  const { body } = await request(listener).get('/openapi.json').expect(200);
  expect(body).toMatchObject({
    servers: [{ url: 'https://api.example.test/api/v1' }],
    paths: {
      '/at/v1': { get: { servers: [{ url: 'https://api.example.test/v1' }] } },
      '/at/api/v1': { get: expect.not.objectContaining({ servers: expect.anything() }) },
    },
  });
});

test('the document is compressed for clients that accept gzip in any notation', async () => {
  await using fixture = await startFixture();
  const read = async (encodings: string) => {
    const sent = get(`${fixture.url}/openapi.json`, { headers: { 'Accept-Encoding': encodings } });
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return { headers: answer.headers, bytes: Buffer.concat(await answer.toArray()) };
  };
  const plain = await read('gzip;q=0');
  expect(plain.headers).toMatchObject({ vary: 'Accept-Encoding', 'content-length': `${plain.bytes.length}` });
  expect(plain.headers).not.toHaveProperty('content-encoding');
  for (const encodings of ['gzip', 'br, GZIP;q=0.5, identity']) {
    const { headers, bytes } = await read(encodings);
    expect(headers).toMatchObject({ vary: 'Accept-Encoding', 'content-encoding': 'gzip' });
    expect(gunzipSync(bytes)).toEqual(plain.bytes);
  }
});

test('a schema that differs between input and output has a name for each', () => {
  const named = z.object({ at: z.string().default('now') }).meta({ id: 'Event' });
  const about = { title: '', version: '', description: '', tags: {}, basePath: '' };
  const both = route(
    {
      method: 'post',
      path: '/events',
      operationId: 'createEvent',
      tag: '',
      summary: '',
      auth: anyone,
      body: { schema: named },
      responses: { 200: { description: '', body: named } },
    },
    () => ({ status: 200, body: {} }),
  );
  expect(createDocument(about, [both])).toMatchObject({
    components: {
      schemas: {
        Event: expect.not.objectContaining({ required: ['at'] }),
        EventOutput: { required: ['at'] },
      },
    },
  });
});

test('the document is OpenAPI 3.0 even if zod generates other constructs', () => {
  const mood = z.enum(['loud', 'quiet']).meta({ id: 'Mood' });
  const flag = z.enum(['true', 'false']).default('false').meta({ type: 'boolean', default: false });
  const about = { title: '', version: '', description: '', tags: {}, basePath: '' };
  const document = createDocument(about, [
    route(
      {
        method: 'get',
        path: '/events',
        operationId: 'listEvents',
        tag: '',
        summary: '',
        auth: anyone,
        query: z.strictObject({
          mood: mood.optional(),
          flag,
          kind: z.string().meta({ examples: ['a', 'b'] }),
        }),
        responses: { 204: { description: '' } },
      },
      () => ({ status: 204 }),
    ),
  ]);
  expect(document).toMatchObject({
    paths: {
      '/events': {
        get: {
          parameters: [
            { name: 'mood', schema: { $ref: '#/components/schemas/Mood' } },
            { name: 'flag', schema: { type: 'boolean', default: false } },
            { name: 'kind', example: 'a', schema: { type: 'string' } },
          ],
        },
      },
    },
  });
  expect(JSON.stringify(document)).not.toMatch(/"examples":\[|"allOf"|\["true","false"\]/);
});

test('every operation names the credential it requires, its problems and when to try again', () => {
  const guard = (security: Record<string, string[]>[]) => ({ ...anyone, security });
  const read = (path: string, security: Record<string, string[]>[], description?: string) =>
    route(
      {
        method: 'get',
        path,
        operationId: path.slice(1),
        tag: '',
        summary: '',
        ...(description === undefined ? {} : { description }),
        auth: guard(security),
        skipRateLimit: true,
        responses: { 204: { description: '' } },
      },
      () => ({ status: 204 }),
    );
  const about = { title: '', version: '', description: '', tags: {}, basePath: '' };
  const document = createDocument(about, [
    read('/open', []),
    read('/scoped', [{ bearer: ['notes:read'] }, { cookie: ['notes:read'] }], 'Newest first.'),
    read('/signed', [{ signature: [], timestamp: [] }]),
  ]);
  expect(document).toMatchObject({
    info: { contact: { name: expect.any(String) } },
    paths: {
      '/open': { get: { description: 'No credential is required.' } },
      '/scoped': {
        get: { description: 'Newest first.\n\nRequires bearer, or cookie, with the scope notes:read.' },
      },
      '/signed': {
        get: {
          description: 'Requires signature and timestamp.',
          responses: { 429: { headers: { 'Retry-After': {} } }, 503: { headers: { 'Retry-After': {} } } },
        },
      },
    },
  });
});

test('an array in input must be a boundedList; an array in a response need not', () => {
  const about = { title: '', version: '', description: '', tags: {}, basePath: '' };
  const documentOf = (body: z.ZodType) => () =>
    createDocument(about, [
      route(
        {
          method: 'post',
          path: '/lists',
          operationId: 'list',
          tag: 'Lists',
          summary: 'List',
          auth: anyone,
          body: { schema: body },
          responses: { 200: { description: 'The same', body: z.object({ names: z.array(z.string()) }) } },
        },
        () => ({ status: 200, body: { names: [] } }),
      ),
    ]);
  expect(documentOf(z.object({ names: z.array(z.string()).max(10) }))).toThrow('must be a boundedList');
  expect(documentOf(z.object({ names: boundedList(z.string(), 0, 10) }))).not.toThrow();
});

test('a path parameter and a query parameter cannot have the same name', () => {
  const about = { title: '', version: '', description: '', tags: {}, basePath: '' };
  const named = route(
    {
      method: 'get',
      path: '/notes/{id}',
      operationId: 'listNotes',
      tag: '',
      summary: '',
      auth: anyone,
      params: z.object({ id: z.string() }),
      query: z.object({ id: z.string() }),
      responses: { 200: { description: '' } },
    },
    () => ({ status: 200 }),
  );
  expect(() => createDocument(about, [named])).toThrow('listNotes has id in its path and in its query');
});

test('NDJSON and CSV are strings with an example, and NDJSON also has the schema of a line', () => {
  const about = { title: '', version: '', description: '', tags: {}, basePath: '' };
  const Line = z.object({ name: z.string(), size: z.int() }).meta({ id: 'Line' });
  const lines = route(
    {
      method: 'post',
      path: '/lines',
      operationId: 'importLines',
      tag: '',
      summary: '',
      auth: anyone,
      body: {
        schema: Line,
        example: { name: 'a,b', size: 1 },
        types: ['application/x-ndjson', 'text/csv'],
        raw: true,
      },
      responses: { 200: { description: '', body: Line, mediaType: 'application/x-ndjson' } },
    },
    () => ({ status: 200, rawBody: '' }),
  );
  const { paths } = createDocument(about, [lines]) as { paths: Record<string, { post: object }> };
  const line = { $ref: '#/components/schemas/Line' };
  expect(paths['/lines']?.post).toMatchObject({
    requestBody: {
      content: {
        'application/x-ndjson': {
          schema: { type: 'string' },
          'x-itemSchema': line,
          example: '{"name":"a,b","size":1}\n',
        },
        'text/csv': { schema: { type: 'string' }, example: 'name,size\r\n"a,b",1\r\n' },
      },
    },
    responses: { 200: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } } },
  });
});

test('an operation names the codes of its problems, and a problem with additional members has its own schema', () => {
  const about = { title: '', version: '', description: '', tags: {}, basePath: '' };
  const deposit = route(
    {
      method: 'post',
      path: '/deposits',
      operationId: 'createDeposit',
      tag: '',
      summary: '',
      auth: anyone,
      responses: { 204: { description: '' } },
    },
    () => ({ status: 204 }),
  );
  const codes = { createDeposit: { 422: ['disabled', 'limit_reached'] } };
  const problemMembers = { limit_reached: { remaining: z.string() } };
  const document = createDocument({ ...about, codes, problemMembers }, [deposit]);
  const content = (schema: object) => ({ content: { 'application/problem+json': { schema } } });
  const plain = [{ $ref: '#/components/schemas/Problem' }, { properties: { code: { enum: ['disabled'] } } }];
  expect(document).toMatchObject({
    paths: {
      '/deposits': {
        post: {
          responses: {
            400: content({ $ref: '#/components/schemas/Problem' }),
            422: {
              description: expect.stringMatching(/: `disabled`, `limit_reached`$/),
              ...content({ anyOf: [{ allOf: plain }, { $ref: '#/components/schemas/LimitReachedProblem' }] }),
              headers: { 'X-Request-Id': {}, RateLimit: {} },
            },
          },
        },
      },
    },
    components: {
      schemas: {
        LimitReachedProblem: {
          properties: { remaining: {}, code: { enum: ['limit_reached'] } },
          required: expect.arrayContaining(['remaining', 'code']),
        },
      },
    },
  });
  expect(() => createDocument({ ...about, codes: { other: {} } }, [deposit])).toThrow('has the id other');
});
