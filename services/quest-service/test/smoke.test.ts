import supertest from 'supertest';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';

test('answers', async () => {
  await using service = await startService();
  const ok = await supertest(service.app).get('/v1/quests');
  expect(ok.body).toEqual([]);
  const bad = await supertest(service.app).get('/v1/quests?limit=9&x=1');
  expect(bad.body).toMatchObject({
    status: 400,
    errors: { limit: [expect.any(String)], x: [expect.any(String)] },
  });
  const wrong = await supertest(service.app).put('/v1/quests');
  expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET, HEAD']);
  const ready = await supertest(service.app).get('/readyz');
  expect(ready.body).toMatchObject({ status: 'ready' });
  const lost = await supertest(service.app).get('/nowhere?token=abc');
  expect(lost.headers['content-type']).toBe('application/problem+json');
});
