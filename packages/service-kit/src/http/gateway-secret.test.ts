import { expect, test } from 'vitest';
import { serve } from '../testing/server.ts';
import { behindGateway } from './client-address.ts';

const secret = 's'.repeat(64);
const forwarded = {
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-host': 'shop.example.test',
  'x-forwarded-proto': 'https',
};

/** The headers that a service sees. */
const seen = async (headers: Record<string, string>, ...accepted: string[]) => {
  await using service = await serve(
    behindGateway((req, res) => void res.end(JSON.stringify(req.headers)), accepted),
  );
  return (await (await fetch(service.url, { headers })).json()) as Record<string, string>;
};

test('X-Forwarded headers of the gateway are kept, and its secret is removed', async () => {
  const headers = await seen({ ...forwarded, 'x-gateway-secret': secret }, secret);
  expect(headers).toMatchObject(forwarded);
  expect(headers).not.toHaveProperty('x-gateway-secret');
});

test.each([
  ['without the secret', {}],
  ['with another secret', { 'x-gateway-secret': 't'.repeat(64) }],
  ['with an empty secret', { 'x-gateway-secret': '' }],
  ['with the beginning of the secret', { 'x-gateway-secret': 's'.repeat(63) }],
])('what a caller %s says about itself is removed', async (_, header: Record<string, string>) => {
  const headers = await seen({ ...forwarded, ...header }, secret);
  for (const name of [...Object.keys(forwarded), 'x-gateway-secret'])
    expect(headers).not.toHaveProperty(name);
});

test('while the secret is replaced the old and the new one count, and no part of the setting does', async () => {
  const next = 'n'.repeat(64);
  for (const sent of [secret, next])
    expect(await seen({ ...forwarded, 'x-gateway-secret': sent }, secret, next)).toMatchObject(forwarded);
  for (const sent of [`${secret},${next}`, ',', next.slice(1)])
    expect(await seen({ ...forwarded, 'x-gateway-secret': sent }, secret, next)).not.toHaveProperty(
      'x-forwarded-for',
    );
});

test('a service without a secret trusts no X-Forwarded header', async () => {
  const headers = await seen({ ...forwarded, 'x-gateway-secret': 'undefined' });
  for (const name of Object.keys(forwarded)) expect(headers).not.toHaveProperty(name);
});
