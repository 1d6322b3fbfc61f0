import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createRequestSignatures, type RequestSignatureOptions } from './signing.ts';

const at = new Date('2026-01-02T03:04:05.900Z');
const seconds = Math.floor(at.getTime() / 1000);
const make = (more: Partial<RequestSignatureOptions> = {}) =>
  createRequestSignatures({
    secrets: { current: 'new secret', previous: 'old secret' },
    now: () => at,
    ...more,
  });
const hmac = (secret: string, ...parts: (string | Buffer)[]) => {
  const made = createHmac('sha256', secret);
  for (const part of parts) made.update(part);
  return made.digest('hex');
};
const path = '/callback/debit';
const body = Buffer.from('{"requestId":"r 1","amount":"5.00","list":[1,2]}');
const timestamp = String(seconds);
const signed = (secret = 'new secret', stamp = timestamp, sentPath = path, sent: string | Buffer = body) => ({
  timestamp: stamp,
  signature: hmac(secret, stamp, sentPath, sent),
  path,
  body,
});

test('signs timestamp, path and raw body without separators', () => {
  expect(make().sign(path, body)).toEqual({
    timestamp,
    signature: hmac('new secret', timestamp, path, body),
  });
  // From another implementation: openssl dgst -sha256 -hmac key.
  const fixed = createRequestSignatures({
    secrets: { current: 'key' },
    now: () => new Date(1_700_000_000_000),
  });
  const known = '004bccbe3b7fee2dfddeead856ab11c3a3db20873030025731da4ec8afdc6674';
  expect(fixed.sign('/a', '{}').signature).toBe(known);
});

test('a request is valid under the current and the previous secret', () => {
  expect(make().verify(signed())).toEqual({ ok: true, secret: 'current' });
  expect(make().verify(signed('old secret'))).toEqual({ ok: true, secret: 'previous' });
  const alone = make({ secrets: { current: 'new secret' } });
  expect(alone.verify(signed('old secret'))).toEqual({ ok: false, why: 'secret' });
});

test('the path can be left out of the signature, or get back a prefix that a gateway removed', () => {
  const older = make({ parts: ['timestamp', 'body'] });
  expect(older.verify({ ...signed(), signature: hmac('new secret', timestamp, body) }).ok).toBe(true);
  expect(older.verify(signed()).ok).toBe(false);
  const behind = make({ pathPrefix: '/wallet' });
  expect(behind.verify(signed('new secret', timestamp, `/wallet${path}`)).ok).toBe(true);
});

test.for([0, 1, 30, -30])('a timestamp that differs by %d seconds is valid', (off) => {
  expect(make().verify(signed('new secret', String(seconds + off))).ok).toBe(true);
});

test.for([31, -31, 86_400, -seconds])('a timestamp that differs by %d seconds is not valid', (off) => {
  expect(make().verify(signed('new secret', String(seconds + off)))).toEqual({ ok: false, why: 'clock' });
});

describe('is refused, with the reason for the log', () => {
  test('missing headers', () => {
    expect(make().verify({ ...signed(), timestamp: undefined })).toEqual({ ok: false, why: 'missing' });
    expect(make().verify({ ...signed(), signature: undefined })).toEqual({ ok: false, why: 'missing' });
  });

  test.for([
    '',
    '-1',
    '+1',
    '1.0',
    ' 1',
    '1e9',
    '0x1',
    `${seconds}000`,
    `${seconds}, ${seconds}`,
    'NaN',
    '١',
  ])('a timestamp that is not a plain number, although signed: %j', (stamp) => {
    expect(make().verify(signed('new secret', stamp))).toEqual({ ok: false, why: 'malformed' });
  });

  test('a signature that is not 64 lower-case hex digits', () => {
    const { signature } = signed();
    const odd = [
      signature.toUpperCase(),
      signature.slice(1),
      `${signature}0`,
      `sha256=${signature}`,
      `${signature}\n`,
      '',
    ];
    for (const other of odd) {
      expect(make().verify({ ...signed(), signature: other })).toEqual({ ok: false, why: 'malformed' });
    }
  });

  test.for(['', '/callback/debit/', 'callback/debit', '/debit', 'debit'])(
    'another form of the path: %j',
    (other) => {
      expect(make().verify(signed('new secret', timestamp, other))).toEqual({ ok: false, why: 'path' });
    },
  );

  test.for(['{"requestId": "r 1", "amount": "5.00", "list": [1, 2]}', `${body.toString()}\n`, ''])(
    'another form of the body: %j',
    (other) => {
      expect(make().verify(signed('new secret', timestamp, path, other))).toEqual({ ok: false, why: 'body' });
    },
  );

  test('a pretty-printed body that was signed compact', () => {
    const pretty = Buffer.from(JSON.stringify(JSON.parse(body.toString()), undefined, 2));
    expect(make().verify({ ...signed(), body: pretty })).toEqual({ ok: false, why: 'body' });
  });

  test('the reason is not looked for until somebody asks', () => {
    const sent = Buffer.from(body);
    const read = vi.spyOn(sent, 'toString');
    const verdict = make().verify({ ...signed('a guess'), body: sent });
    expect(read).not.toHaveBeenCalled();
    expect(verdict).toEqual({ ok: false, why: 'secret' });
    expect(read).toHaveBeenCalled();
  });

  test('another secret, or another content', () => {
    expect(make().verify(signed('a guess'))).toEqual({ ok: false, why: 'secret' });
    const more = Buffer.from(body.toString().replace('5.00', '500.00'));
    expect(make().verify({ ...signed(), body: more })).toEqual({ ok: false, why: 'secret' });
    expect(make().verify({ ...signed(), path: '/callback/credit' })).toEqual({ ok: false, why: 'secret' });
    expect(make().verify({ ...signed(), timestamp: String(seconds + 1) })).toEqual({
      ok: false,
      why: 'secret',
    });
  });

  test('hostile bodies, in linear time', () => {
    for (const text of [
      '"\\'.repeat(5000),
      '['.repeat(900),
      '"'.repeat(1999),
      `"${'\\"'.repeat(900)}`,
      '\\'.repeat(1999),
    ]) {
      const hostile = Buffer.from(text);
      expect(make().verify({ ...signed(), body: hostile })).toEqual({ ok: false, why: 'secret' });
    }
  });
});

test('an empty secret is refused when the service starts', () => {
  expect(() => make({ secrets: { current: '' } })).toThrow('empty');
  expect(() => make({ secrets: { current: 'x', previous: '' } })).toThrow('empty');
});

test('any signed content verifies; with one bit changed it does not', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(bytes, fc.webPath(), fc.nat(), (raw, tail, where) => {
      const sent = Buffer.from(raw);
      const request = { ...make().sign(`/${tail}`, sent), path: `/${tail}`, body: sent };
      expect(make().verify(request)).toEqual({ ok: true, secret: 'current' });
      const changed = Buffer.from(sent);
      const place = where % changed.length;
      changed[place] = (changed[place] ?? 0) ^ (1 << (where % 8));
      expect(make().verify({ ...request, body: changed }).ok).toBe(false);
    }),
  );
});
