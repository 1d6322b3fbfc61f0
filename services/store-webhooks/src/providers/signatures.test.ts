import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hmacMatches, timestampedMatches, type Scheme } from './signatures.ts';

const body = Buffer.from('{"a":1}');

describe.for<Scheme>([
  { algorithm: 'sha256', encoding: 'hex' },
  { algorithm: 'sha512', encoding: 'hex' },
  { algorithm: 'sha256', encoding: 'base64' },
])('$algorithm in $encoding', (scheme) => {
  const sign = (secret: string | Buffer, content: string) =>
    createHmac(scheme.algorithm, secret).update(content).digest(scheme.encoding);

  test('a signature of the content parts in order is valid, with the secret as text or bytes', () => {
    const right = sign('secret', 'https://x.test/hook{"a":1}');
    expect(hmacMatches(scheme, 'secret', ['https://x.test/hook', body], right)).toBe(true);
    expect(hmacMatches(scheme, Buffer.from('secret'), ['https://x.test/hook', body], right)).toBe(true);
  });

  test('any other signature is invalid', () => {
    const right = sign('secret', '{"a":1}');
    const wrong = [
      undefined,
      '',
      'x',
      right.slice(1),
      `${right}00`,
      ` ${right}`,
      `${right}\n`,
      sign('other', '{"a":1}'),
    ];
    for (const signature of wrong) expect(hmacMatches(scheme, 'secret', [body], signature)).toBe(false);
    expect(hmacMatches(scheme, 'secret', ['{"a":2}'], right)).toBe(false);
    expect(hmacMatches(scheme, 'secret', [body], 'A'.repeat(100_000))).toBe(false);
  });

  test('no signature is valid with an empty secret', () => {
    expect(hmacMatches(scheme, '', [body], sign('', '{"a":1}'))).toBe(false);
  });
});

describe('a timestamped signature header', () => {
  const now = new Date('2026-01-02T03:04:05Z');
  const t = now.getTime() / 1000;
  const v1 = (secret = 's1', time: number | string = t) =>
    createHmac('sha256', secret).update(`${time}.{"a":1}`).digest('hex');
  const options = { secrets: ['s1'], toleranceSeconds: 300, now };
  const check = (header: string | undefined, overrides = {}) =>
    timestampedMatches({ ...options, ...overrides }, body, header);

  test('is valid if any of its signatures matches any of the secrets', () => {
    expect(check(`t=${t},v1=${v1()}`)).toBe(true);
    expect(check(`t=${t},v1=${v1('old')},v1=${v1()}`)).toBe(true);
    expect(check(`t=${t},v1=${v1('old')} t=${t},v1=${v1()}`)).toBe(true);
    expect(check(`t=${t},v1=${v1('old')}`, { secrets: ['s1', 'old'] })).toBe(true);
    expect(check(`t=${t - 300},v1=${v1('s1', t - 300)}`)).toBe(true);
  });

  test('is invalid when it is old, from the future, changed, repeated or of another version', () => {
    const wrong = [
      undefined,
      '',
      `t=${t - 301},v1=${v1('s1', t - 301)}`,
      `t=${t + 301},v1=${v1('s1', t + 301)}`,
      `t=${t + 1},v1=${v1()}`,
      `t=${t},t=${t},v1=${v1()}`,
      `t=${t},v0=${v1()}`,
      `t=${t}`,
      `v1=${v1()}`,
      `t=,v1=${v1('s1', '')}`,
      `t=1e9,v1=${v1('s1', '1e9')}`,
      `t=${t},v1=${v1('other')}`,
      `t=${t - 301},v1=${v1()} t=${t},v1=${v1('s1', t - 301)}`,
    ];
    for (const header of wrong) expect([header, check(header)]).toEqual([header, false]);
    expect(check(`t=${t},v1=${v1('')}`, { secrets: [''] })).toBe(false);
    expect(check(`t=${t},v1=${v1()}`, { secrets: [] })).toBe(false);
  });

  test('is checked only for a limited number of signatures', () => {
    expect(check(`t=${t}${`,v1=${v1('guess')}`.repeat(3)},v1=${v1()}`)).toBe(true);
    expect(check(`t=${t}${`,v1=${v1('guess')}`.repeat(4)},v1=${v1()}`)).toBe(false);
  });
});
