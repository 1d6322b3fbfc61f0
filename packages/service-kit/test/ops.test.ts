import request from 'supertest';
import { expect, test } from 'vitest';
import { InsufficientScope, Unauthorized } from '../src/http/problem.ts';
import type { Guard } from '../src/http/route.ts';
import { createApp } from './fixture/service.ts';
import { startFixture } from './harness.ts';

/** Lets `Bearer ops` in; another credential lacks the scope. */
const ops: Guard<string> = {
  security: [],
  schemes: {},
  identify: ({ headers: { authorization } }) => {
    if (authorization === undefined) throw new Unauthorized('An access token is needed.', 'Bearer');
    if (authorization !== 'Bearer ops') throw new InsufficientScope('ops:read', 'Bearer');
    return 'ops';
  },
  keyOf: (caller) => caller,
};

test('/ops/status tells anyone whether the service is ready, and nothing else', async () => {
  await using fixture = await startFixture();
  const answer = await request(fixture.app).get('/ops/status').expect(200);
  expect(answer.body).toEqual({ ready: true, degraded: false });
  expect(answer.headers['cache-control']).toBe('no-store');
});

test('a draining service is not ready, and one without Redis is degraded', async () => {
  await using fixture = await startFixture({ REDIS_URL: 'redis://127.0.0.1:1' });
  fixture.context.health.draining = true;
  const answer = await request(fixture.app).get('/ops/status').expect(200);
  expect(answer.body).toEqual({ ready: false, degraded: true });
});

test('concurrent requests for the status check the database once', async () => {
  await using fixture = await startFixture();
  let looks = 0;
  const { health } = fixture.context;
  const check = health.check.bind(health);
  health.check = () => {
    looks++;
    return check();
  };
  await Promise.all(Array.from({ length: 20 }, () => request(fixture.app).get('/ops/status').expect(200)));
  // A second may pass meanwhile on a busy machine, but not twenty.
  expect(looks).toBeLessThan(20);
});

test('/ops/summary requires the scope', async () => {
  await using fixture = await startFixture();
  const { listener: app } = createApp({ ...fixture.context, ops });
  const refused = await request(app).get('/ops/summary').expect(401);
  expect(refused.body).toMatchObject({ code: 'unauthorized' });
  const lacking = await request(app).get('/ops/summary').set('Authorization', 'Bearer other').expect(403);
  expect(lacking.body.detail).toContain('ops:read');
  const { body } = await request(app).get('/ops/summary').set('Authorization', 'Bearer ops').expect(200);
  expect(body).toMatchObject({ instance: expect.stringMatching(/\/\d+$/), stepSeconds: 10 });
  expect(body.points).toBeInstanceOf(Array);
});

test('without a guard /ops/summary is 404', async () => {
  await using fixture = await startFixture();
  const answer = await request(fixture.app)
    .get('/ops/summary')
    .set('Authorization', 'Bearer ops')
    .expect(404);
  expect(answer.body).toMatchObject({ code: 'not_found' });
});

test('the OpenAPI document contains no /ops path', async () => {
  await using fixture = await startFixture();
  expect(JSON.stringify(fixture.document)).not.toContain('/ops/');
});
