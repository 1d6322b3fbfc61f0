import { expect, test } from 'vitest';
import { z } from 'zod';
import { createHttpApp } from '../src/http/app.ts';
import { anyone, route } from '../src/http/route.ts';
import { serve } from '../src/testing/index.ts';
import { startFixture } from './harness.ts';

const about = { title: 'Notes', version: '1.0.0', description: 'Notes.', tags: {}, basePath: '/v1' };

const shared = {
  method: 'post' as const,
  tag: 'Notes',
  summary: 'Notes',
  body: { schema: z.object({ text: z.string().max(20_000) }) },
  responses: { 200: { description: 'Done' } },
};

test('a large body is read in the turn of its client, a small one at once', async () => {
  await using fixture = await startFixture();
  const paths: (readonly string[])[] = [];
  const reading: typeof fixture.context.reading = (path, work) => {
    paths.push(path);
    return fixture.context.reading(path, work);
  };
  const { listener } = createHttpApp(
    { ...fixture.context, reading },
    {
      api: about,
      routes: [
        route({ ...shared, auth: anyone, path: '/notes', operationId: 'addNote' }, () => ({ status: 200 })),
      ],
    },
  );
  await using server = await serve(listener);
  const post = async (length: number, client: string) => {
    const body = JSON.stringify({ text: 'x'.repeat(length) });
    const headers = { 'content-type': 'application/json', authorization: client };
    return (await fetch(`${server.url}/v1/notes`, { method: 'POST', body, headers })).status;
  };
  expect(await post(4000, 'ann')).toBe(200);
  expect(paths).toEqual([]);
  expect([await post(5000, 'ann'), await post(20_001, 'bob')]).toEqual([200, 400]);
  expect(paths).toEqual([
    ['127.0.0.1', expect.any(String)],
    ['127.0.0.1', expect.any(String)],
  ]);
  expect(paths[0]).not.toEqual(paths[1]);
});
