import { expect, test } from 'vitest';
import { z } from 'zod';
import { createHttpApp } from '../src/http/app.ts';
import { anyone, route, type Guard } from '../src/http/route.ts';
import { serve } from '../src/testing/index.ts';
import { startFixture } from './harness.ts';

const about = { title: 'Notes', version: '1.0.0', description: 'Notes.', tags: {}, basePath: '/v1' };

const somebody: Guard<string> = {
  security: [],
  schemes: {},
  keyOf: (caller) => caller,
  identify: async () => 'ann',
};

const shared = {
  method: 'post' as const,
  tag: 'Notes',
  summary: 'Notes',
  body: { schema: z.object({ text: z.string().max(20_000) }) },
  responses: { 200: { description: 'Done' } },
};

test('a large body is read in the turn of its caller, or of its network without one; a small one at once', async () => {
  await using fixture = await startFixture();
  const groups: string[] = [];
  const reading: typeof fixture.context.reading = (group, work) => {
    groups.push(group);
    return fixture.context.reading(group, work);
  };
  const answer = () => ({ status: 200 as const });
  const { listener } = createHttpApp(
    { ...fixture.context, reading },
    {
      api: about,
      routes: [
        route({ ...shared, auth: somebody, path: '/notes', operationId: 'addNote' }, answer),
        route({ ...shared, auth: anyone, path: '/guests', operationId: 'addGuest' }, answer),
      ],
    },
  );
  await using server = await serve(listener);
  const post = async (path: string, length: number) => {
    const body = JSON.stringify({ text: 'x'.repeat(length) });
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${server.url}/v1${path}`, { method: 'POST', body, headers })).status;
  };
  expect([await post('/notes', 10), await post('/guests', 4000)]).toEqual([200, 200]);
  expect(groups).toEqual([]);
  expect([await post('/notes', 5000), await post('/guests', 5000)]).toEqual([200, 200]);
  expect(await post('/notes', 20_001)).toBe(400);
  expect(groups).toEqual(['k:ann', 'a:127.0.0.1', 'k:ann']);
});
