import { createTransport } from 'nodemailer';
import { expect, onTestFinished, test } from 'vitest';
import { startDemoServer, type Mail } from './demo-server.ts';

const credentials = { accessToken: 'demo' };

const start = async () => {
  const nextCodes: string[] = [];
  const server = await startDemoServer((code) => nextCodes.push(code), {
    allows: (token, scope) => Promise.resolve(token === 'good' && scope === 'mailbox'),
  });
  onTestFinished(server.close);
  const post = async (body: string, method = 'POST') => {
    const response = await fetch(`http://${server.address}/docs/demo`, {
      method,
      ...(method === 'POST' && { body }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as object };
  };
  return { server, nextCodes, post, exchange: (code: string) => post(JSON.stringify({ code })) };
};

test('a code is exchanged for the credentials, and no cache may store them', async () => {
  const { server, exchange } = await start();
  const answer = await exchange(server.offer(credentials));
  expect([answer.status, answer.body]).toEqual([200, credentials]);
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

test('a code works once, even if it is sent ten times at the same moment; then a new one is created', async () => {
  const { server, exchange, nextCodes } = await start();
  const code = server.offer(credentials);
  const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(code)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect((await exchange(code)).status).toBe(403);
  expect(nextCodes).toHaveLength(1);
  expect((await exchange(nextCodes[0] ?? '')).body).toEqual(credentials);
});

test.each([
  '',
  '{',
  '{}',
  'null',
  '{"code":1}',
  '{"code":""}',
  '{"code":"guess"}',
  `{"code":"${'x'.repeat(2_000)}"}`,
])('the body %j gets 403 and no credentials', async (body) => {
  const { server, post } = await start();
  server.offer(credentials);
  const answer = await post(body);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([403, 'application/problem+json']);
  expect(answer.body).toMatchObject({ status: 403, code: 'invalid_code' });
});

test('credentials are not returned before the demo data are loaded, and not by GET', async () => {
  const { server, post, exchange } = await start();
  expect((await exchange('')).status).toBe(403);
  server.offer(credentials);
  expect((await post('', 'GET')).status).toBe(403);
});

test('the mailbox rejects mails from senders without its password', async () => {
  const { server } = await start();
  const { host } = new URL(server.smtpUrl);
  const mail = { from: 'a@example.test', to: 'b@example.test', text: 'x' };
  for (const url of [`smtp://${host}`, `smtp://platform:wrong@${host}`])
    await expect(createTransport({ url }).sendMail(mail)).rejects.toThrow(/authenticat|wrong password/i);
});

test('the newest 200 mails are stored as text, and a mail of more than a megabyte is refused', async () => {
  const { server } = await start();
  const transport = createTransport({ url: server.smtpUrl, pool: true });
  const send = (subject: string, text = subject) =>
    transport.sendMail({
      from: 'a@example.test',
      to: 'b@example.test',
      subject,
      text,
      html: `<i>${text}</i>`,
    });
  for (let number = 0; number <= 200; number++) await send(`Mail ${number}`);
  await expect(send('large', 'x'.repeat(1_000_000))).rejects.toThrow('more than 1000000 bytes');
  await send('long', 'y'.repeat(30_000));
  transport.close();
  const read = (token: string, method = 'GET') =>
    fetch(`http://${server.address}/docs/ops/mails`, {
      method,
      headers: { Authorization: `Bearer ${token}` },
    });
  const answer = await read('good');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const { mails } = (await answer.json()) as { mails: Mail[] };
  expect(mails.map(({ subject }) => subject)).toEqual([
    'long',
    ...Array.from({ length: 199 }, (_, index) => `Mail ${200 - index}`),
  ]);
  expect(mails[0]?.text).toBe('y'.repeat(20_000));
  expect(mails[1]).toMatchObject({
    to: 'b@example.test',
    text: expect.stringMatching(/^Mail 200\s*$/) as string,
  });
  for (const refusal of [await read('bad'), await read(''), await read('good', 'POST')]) {
    expect([refusal.status, refusal.headers.get('content-type')]).toEqual([403, 'application/problem+json']);
    expect(await refusal.json()).toMatchObject({ code: 'insufficient_scope' });
  }
});
