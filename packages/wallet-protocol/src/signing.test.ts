import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createRequestSignatures, type RequestSignatureOptions } from './signing.ts';

const at = new Date('2026-01-02T03:04:05.900Z');
const seconds = Math.floor(at.getTime() / 1000);
const signer = (overrides: Partial<RequestSignatureOptions> = {}) =>
  createRequestSignatures({
    secrets: { current: 'new secret', previous: 'old secret' },
    now: () => at,
    ...overrides,
  });
const hmacOf = (secret: string, ...parts: (string | Buffer)[]) => {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
};
const path = '/callback/debit';
const body = Buffer.from('{"requestId":"r 1","amount":"5.00","list":[1,2]}');
const timestamp = String(seconds);
/** The request with a signature over another secret, timestamp, path or body. */
const signed = (
  secret = 'new secret',
  signedTimestamp = timestamp,
  signedPath = path,
  signedBody: string | Buffer = body,
) => ({
  timestamp: signedTimestamp,
  signature: hmacOf(secret, signedTimestamp, signedPath, signedBody),
  path,
  body,
});

test('signs timestamp, path and raw body without separators', () => {
  expect(signer().sign(path, body)).toEqual({
    timestamp,
    signature: hmacOf('new secret', timestamp, path, body),
  });
  // Computed with another implementation: openssl dgst -sha256 -hmac key.
  const fixed = createRequestSignatures({
    secrets: { current: 'key' },
    now: () => new Date(1_700_000_000_000),
  });
  const known = '004bccbe3b7fee2dfddeead856ab11c3a3db20873030025731da4ec8afdc6674';
  expect(fixed.sign('/a', '{}').signature).toBe(known);
});

test('a request is valid under the current and the previous secret', () => {
  expect(signer().verify(signed())).toEqual({ ok: true, secret: 'current' });
  expect(signer().verify(signed('old secret'))).toEqual({ ok: true, secret: 'previous' });
  const withoutPrevious = signer({ secrets: { current: 'new secret' } });
  expect(withoutPrevious.verify(signed('old secret'))).toEqual({ ok: false, why: 'secret' });
});

test('the signature can omit the path, or cover a path prefix that a gateway removed', () => {
  const withoutPath = signer({ parts: ['timestamp', 'body'] });
  expect(withoutPath.verify({ ...signed(), signature: hmacOf('new secret', timestamp, body) }).ok).toBe(true);
  expect(withoutPath.verify(signed()).ok).toBe(false);
  const behindGateway = signer({ pathPrefix: '/wallet' });
  expect(behindGateway.verify(signed('new secret', timestamp, `/wallet${path}`)).ok).toBe(true);
});

test.for([0, 1, 30, -30])('a timestamp that differs by %d seconds is valid', (off) => {
  expect(signer().verify(signed('new secret', String(seconds + off))).ok).toBe(true);
});

test.for([31, -31, 86_400, -seconds])('a timestamp that differs by %d seconds is not valid', (off) => {
  expect(signer().verify(signed('new secret', String(seconds + off)))).toEqual({ ok: false, why: 'clock' });
});

describe('a request is refused, with the reason for the log:', () => {
  test('missing headers', () => {
    expect(signer().verify({ ...signed(), timestamp: undefined })).toEqual({ ok: false, why: 'missing' });
    expect(signer().verify({ ...signed(), signature: undefined })).toEqual({ ok: false, why: 'missing' });
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
  ])('a signed timestamp that is not a plain number: %j', (malformed) => {
    expect(signer().verify(signed('new secret', malformed))).toEqual({ ok: false, why: 'malformed' });
  });

  test('a signature that is not 64 lower-case hex digits', () => {
    const { signature } = signed();
    const malformed = [
      signature.toUpperCase(),
      signature.slice(1),
      `${signature}0`,
      `sha256=${signature}`,
      `${signature}\n`,
      '',
    ];
    for (const value of malformed) {
      expect(signer().verify({ ...signed(), signature: value })).toEqual({ ok: false, why: 'malformed' });
    }
  });

  test.for(['', '/callback/debit/', 'callback/debit', '/debit', 'debit'])(
    'a signature over a variant of the path: %j',
    (variant) => {
      expect(signer().verify(signed('new secret', timestamp, variant))).toEqual({ ok: false, why: 'path' });
    },
  );

  test.for(['{"requestId": "r 1", "amount": "5.00", "list": [1, 2]}', `${body.toString()}\n`, ''])(
    'a signature over another serialisation of the body: %j',
    (variant) => {
      expect(signer().verify(signed('new secret', timestamp, path, variant))).toEqual({
        ok: false,
        why: 'body',
      });
    },
  );

  test('a pretty-printed body with the signature of the compact body', () => {
    const pretty = Buffer.from(JSON.stringify(JSON.parse(body.toString()), undefined, 2));
    expect(signer().verify({ ...signed(), body: pretty })).toEqual({ ok: false, why: 'body' });
  });

  test('the reason is computed only when it is read', () => {
    const sentBody = Buffer.from(body);
    const toText = vi.spyOn(sentBody, 'toString');
    const verdict = signer().verify({ ...signed('a guess'), body: sentBody });
    expect(toText).not.toHaveBeenCalled();
    expect(verdict).toEqual({ ok: false, why: 'secret' });
    expect(toText).toHaveBeenCalled();
  });

  test('a signature with another secret, or over another content', () => {
    expect(signer().verify(signed('a guess'))).toEqual({ ok: false, why: 'secret' });
    const changedBody = Buffer.from(body.toString().replace('5.00', '500.00'));
    expect(signer().verify({ ...signed(), body: changedBody })).toEqual({ ok: false, why: 'secret' });
    expect(signer().verify({ ...signed(), path: '/callback/credit' })).toEqual({ ok: false, why: 'secret' });
    expect(signer().verify({ ...signed(), timestamp: String(seconds + 1) })).toEqual({
      ok: false,
      why: 'secret',
    });
  });

  test('hostile bodies, which are processed in linear time', () => {
    for (const text of [
      '"\\'.repeat(5000),
      '['.repeat(900),
      '"'.repeat(1999),
      `"${'\\"'.repeat(900)}`,
      '\\'.repeat(1999),
    ]) {
      const hostile = Buffer.from(text);
      expect(signer().verify({ ...signed(), body: hostile })).toEqual({ ok: false, why: 'secret' });
    }
  });
});

test('an empty secret is rejected at start', () => {
  expect(() => signer({ secrets: { current: '' } })).toThrow('empty');
  expect(() => signer({ secrets: { current: 'x', previous: '' } })).toThrow('empty');
});

test('any signed content is valid, and no longer valid when one bit is changed', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(bytes, fc.webPath(), fc.nat(), (raw, tail, bit) => {
      const sentBody = Buffer.from(raw);
      const request = { ...signer().sign(`/${tail}`, sentBody), path: `/${tail}`, body: sentBody };
      expect(signer().verify(request)).toEqual({ ok: true, secret: 'current' });
      const changed = Buffer.from(sentBody);
      const at = bit % changed.length;
      changed[at] = (changed[at] ?? 0) ^ (1 << (bit % 8));
      expect(signer().verify({ ...request, body: changed }).ok).toBe(false);
    }),
  );
});
