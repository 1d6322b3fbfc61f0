import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createHttpApp } from '../src/http/app.ts';
import { createDocument } from '../src/http/openapi.ts';
import { NotFound } from '../src/http/problem.ts';
import { anyone, route } from '../src/http/route.ts';
import { serve } from '../src/testing/index.ts';
import { startFixture } from './harness.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const deprecated = { since: new Date('2026-12-01'), sunset: new Date('2027-06-01T12:00:00Z') };
const params = z.strictObject({ id: z.string().max(3) });
const note = (path: string, options: { deprecated?: typeof deprecated; fast?: boolean }) =>
  route(
    {
      method: 'get',
      path,
      operationId: path.split('/')[1] ?? '',
      tag: 'Notes',
      summary: 'A note',
      auth: anyone,
      params,
      responses: { 204: { description: 'It exists' } },
      ...options,
    },
    ({ params: { id } }) => {
      if (id === 'no') throw new NotFound('note');
      return { status: 204 };
    },
  );
const routes = [
  note('/old/{id}', { deprecated }),
  note('/fast/{id}', { deprecated, fast: true }),
  note('/new/{id}', {}),
];
const api = { title: 'Notes', version: '1.0.0', description: 'Notes.', tags: {}, basePath: '/v1' };

let url: string;
beforeAll(async () => {
  const { context } = stack.use(await startFixture());
  ({ url } = stack.use(await serve(createHttpApp(context, { api, routes }).listener)));
});

const get = async (path: string): Promise<unknown[]> => {
  const { status, headers } = await fetch(`${url}/v1${path}`);
  return [status, headers.get('Deprecation'), headers.get('Sunset')];
};

test.each([
  ['old', 'a', 204],
  ['old', 'no', 404],
  ['old', 'long', 400],
  ['fast', 'a', 204],
  ['fast', 'no', 404],
])(
  'a response of a deprecated operation has its Deprecation and Sunset dates: /%s/%s, %i',
  async (path, id, status) => {
    expect(await get(`/${path}/${id}`)).toEqual([status, '@1796083200', 'Tue, 01 Jun 2027 12:00:00 GMT']);
  },
);

test('a response of another operation has no such dates, even after one that has', async () => {
  await get('/old/a');
  expect(await get('/new/a')).toEqual([204, null, null]);
  expect(await get('/nowhere')).toEqual([404, null, null]);
});

test('the document marks a deprecated operation and its removal date', () => {
  const { paths } = createDocument(api, routes) as { paths: Record<string, { get: object }> };
  expect(paths['/old/{id}']?.get).toMatchObject({
    deprecated: true,
    description: expect.stringContaining(
      'Deprecated since 2026-12-01; it will be removed on 2027-06-01.',
    ) as string,
  });
  expect(paths['/new/{id}']?.get).not.toHaveProperty('deprecated');
});

test('a sunset before the deprecation or an invalid sunset is rejected when the service starts', async () => {
  const { context } = stack.use(await startFixture());
  for (const sunset of [new Date('2026-11-30'), new Date('soon')]) {
    const wrong = note('/old/{id}', { deprecated: { ...deprecated, sunset } });
    expect(() => createHttpApp(context, { api, routes: [wrong] })).toThrow(RangeError);
  }
});
