import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { startTestRedis } from '@platform/service-kit/testing/test-redis';
import { createRevocation } from './revocation.ts';

/** Stands in for the sessions table: the revoked ids, and whether it is available. */
const sessions = () => {
  const table = { revoked: new Set<string>(), isDown: false, lookups: 0 };
  const isRevoked = (id: string): Promise<boolean> => {
    table.lookups += 1;
    return table.isDown ? Promise.reject(new Error('database down')) : Promise.resolve(table.revoked.has(id));
  };
  return { table, isRevoked };
};
const options = { prefix: 'test:revoked', ttlSeconds: 900 };

test('a revoked id is refused on another instance even while the database is down', async () => {
  const { connect } = await startTestRedis();
  const { table, isRevoked } = sessions();
  const [here, there] = await Promise.all([connect(), connect()]);
  const id = randomUUID();
  await createRevocation({ ...options, redis: here, isRevoked }).revoke(id);
  table.isDown = true;
  const other = createRevocation({ ...options, redis: there, isRevoked });
  expect(await other.isRevoked(id)).toBe(true);
  expect(await here.ttl(`test:revoked:${id}`)).toBeGreaterThan(890);
});

test('an id that Redis does not know is looked up in the database each time', async () => {
  const { connect } = await startTestRedis();
  const { table, isRevoked } = sessions();
  const redis = await connect();
  const revocation = createRevocation({ ...options, redis, isRevoked });
  const id = randomUUID();
  expect(await revocation.isRevoked(id)).toBe(false);
  table.revoked.add(id);
  expect(await revocation.isRevoked(id)).toBe(true);
  expect(table.lookups).toBe(2);
  table.isDown = true;
  await expect(revocation.isRevoked(id)).rejects.toThrow('database down');
});

test('a revoked id stays refused while Redis is flushed, killed, hanging or restarted', async () => {
  const { server, connect } = await startTestRedis();
  const { table, isRevoked } = sessions();
  const redis = await connect();
  const revocation = createRevocation({ ...options, redis, isRevoked });
  const [revoked, active] = [randomUUID(), randomUUID()];
  const expectRightAnswers = async () => {
    expect(await Promise.all([revocation.isRevoked(revoked), revocation.isRevoked(active)])).toEqual([
      true,
      false,
    ]);
  };
  table.revoked.add(revoked);
  await revocation.revoke(revoked);
  await expectRightAnswers();
  await redis.flushall();
  await expectRightAnswers();

  await server.kill9();
  await expectRightAnswers();
  await revocation.revoke(active);
  table.isDown = true;
  await expect(revocation.isRevoked(revoked)).rejects.toThrow('database down');
  table.isDown = false;

  await server.restart();
  await expect.poll(() => redis.status).toBe('ready');
  await expectRightAnswers();

  onTestFinished(() => void process.kill(server.pid, 'SIGCONT'));
  process.kill(server.pid, 'SIGSTOP');
  await expectRightAnswers();
  process.kill(server.pid, 'SIGCONT');
});

test('without Redis the database alone decides', async () => {
  const { table, isRevoked } = sessions();
  const revocation = createRevocation({ ...options, redis: undefined, isRevoked });
  await revocation.revoke('a');
  expect(await revocation.isRevoked('a')).toBe(false);
  table.revoked.add('a');
  expect(await revocation.isRevoked('a')).toBe(true);
});
