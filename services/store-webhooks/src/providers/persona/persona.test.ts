import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { persona } from './adapter.ts';
import { inquiry } from './schema.ts';

test('only the attributes of an inquiry that are used are read, however many a body has', () => {
  const sent = { status: 'approved', referenceId: 'user-1', updated_at: '2026-01-02T03:04:05Z' };
  const attributes = new Proxy(sent, {
    ownKeys: () => {
      throw new Error('All names were read.');
    },
  });
  expect(inquiry.parse({ data: { id: 'inq-1', attributes } }).data.attributes).toEqual({
    status: 'approved',
    'reference-id': 'user-1',
    'updated-at': Date.parse(sent.updated_at),
  });
});

test('a webhook is verified with two secrets at most, because each takes a hash of its body', () => {
  const body = Buffer.from('{}');
  const now = new Date();
  const time = Math.floor(now.getTime() / 1000);
  const isValidWith = (secret: string): boolean | undefined => {
    const signature = createHmac('sha256', secret).update(`${time}.{}`).digest('hex');
    const request = { headers: { 'persona-signature': `t=${time},v1=${signature}` }, body, url: '', now };
    return persona.signed?.(request, {
      settings: { kind: 'persona' },
      credentials: { webhookSecret: 'current,previous,earlier' },
    });
  };
  expect(['current', 'previous', 'earlier'].map(isValidWith)).toEqual([true, true, false]);
});

test.each(['a,b,c', 'a,', ',', 'a b', 'a,b\n'])('the secrets %j are not accepted', (webhookSecret) => {
  expect(persona.credentials?.safeParse({ webhookSecret }).success).toBe(false);
});

test.each(['a', 'a,b'])('the secrets %j are accepted', (webhookSecret) => {
  expect(persona.credentials?.safeParse({ webhookSecret }).success).toBe(true);
});
