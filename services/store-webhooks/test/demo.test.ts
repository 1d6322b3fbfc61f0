import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';

const run = promisify(execFile);

interface DemoOutput {
  demo: { store: { id: string; webhookToken: string } };
}

const token = `a.${Buffer.from('{"sub":"ann"}').toString('base64url')}.c`;

test('the demo store is created once with its records, and the printed token works even after a rotation', async () => {
  await using service = await startService({ work: false });
  const demo = async () => {
    const { stdout } = await run(process.execPath, ['src/demo.ts'], {
      cwd: new URL('..', import.meta.url).pathname,
      env: { ...service.variables, GATEWAY_URL: 'http://127.0.0.1:8080', DEMO_ADMIN_TOKEN: token },
    });
    return (JSON.parse(stdout) as DemoOutput).demo.store;
  };
  const { id, webhookToken } = await demo();
  const { body } = await service.admin('GET', `/v1/stores/${id}/users`);
  expect(body['users']).toContainEqual(
    expect.objectContaining({
      consumerUserId: 'demo-member-1',
      verification: expect.objectContaining({ status: 'approved' }),
    }),
  );
  const members = await service.admin('GET', `/v1/stores/${id}/members?text=ann%20li`);
  expect(members.body['members']).toEqual([expect.objectContaining({ id: 'demo-member-1' })]);
  const payment = await service.admin('GET', `/v1/stores/${id}/payments/demo-payment-1`);
  expect(payment.body).toMatchObject({ status: 'succeeded', eci: '05' });
  const job = await service.admin('GET', `/v1/stores/${id}/delivery-jobs/demo-job-1`);
  expect(job.body).toMatchObject({ orderId: 'demo-order-2', driverName: 'Kim' });
  await service.admin('POST', `/v1/stores/${id}/webhook-token/rotate`, { graceSeconds: 0 });
  expect(await demo()).toMatchObject({ id, webhookToken });
  const answer = await service.hook('order_updated', webhookToken, { id: 'o-1', status: 'A' });
  expect(answer.status).toBe(200);
});
