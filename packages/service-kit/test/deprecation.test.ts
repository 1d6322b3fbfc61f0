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

const ask = async (path: string): Promise<unknown[]> => {
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
  'an answer of a deprecated operation says since when and until when: /%s/%s, %i',
  async (path, id, status) => {
    expect(await ask(`/${path}/${id}`)).toEqual([status, '@1796083200', 'Tue, 01 Jun 2027 12:00:00 GMT']);
  },
);

test('an answer of another operation does not, also after one that did', async () => {
  await ask('/old/a');
  expect(await ask('/new/a')).toEqual([204, null, null]);
  expect(await ask('/nowhere')).toEqual([404, null, null]);
});

test('the document marks a deprecated operation, and says when it ends', () => {
  const { paths } = createDocument(api, routes) as { paths: Record<string, { get: object }> };
  expect(paths['/old/{id}']?.get).toMatchObject({
    deprecated: true,
    description: expect.stringContaining(
      'Deprecated since 2026-12-01; it will be removed on 2027-06-01.',
    ) as string,
  });
  expect(paths['/new/{id}']?.get).not.toHaveProperty('deprecated');
});

test('an operation that ends before it is deprecated, or at no time, is refused when the service starts', async () => {
  const { context } = stack.use(await startFixture());
  for (const sunset of [new Date('2026-11-30'), new Date('soon')]) {
    const wrong = note('/old/{id}', { deprecated: { ...deprecated, sunset } });
    expect(() => createHttpApp(context, { api, routes: [wrong] })).toThrow(RangeError);
  }
});
