import { describe, expect, test } from 'vitest';
import { endOfGrace, isActive } from './domain.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const key = (expires_at: string | null, revoked_at: string | null = null) => ({ expires_at, revoked_at });

describe('a key', () => {
  test('works until it expires or is revoked', () => {
    expect(isActive(key(null), now)).toBe(true);
    expect(isActive(key('2026-03-01T12:00:00.001Z'), now)).toBe(true);
    expect(isActive(key('2026-03-01T12:00:00.000Z'), now)).toBe(false);
    expect(isActive(key(null, '2026-03-01T11:00:00.000Z'), now)).toBe(false);
    expect(isActive(key('2027-01-01T00:00:00.000Z', '2026-03-01T12:00:00.000Z'), now)).toBe(false);
  });

  test('that is replaced works for the grace period, but never longer than before', () => {
    expect(endOfGrace(key(null), 60, now)).toBe('2026-03-01T12:01:00.000Z');
    expect(endOfGrace(key(null), 0, now)).toBe('2026-03-01T12:00:00.000Z');
    expect(endOfGrace(key('2026-03-01T12:00:30.000Z'), 60, now)).toBe('2026-03-01T12:00:30.000Z');
    expect(endOfGrace(key('2027-01-01T00:00:00.000Z'), 60, now)).toBe('2026-03-01T12:01:00.000Z');
  });
});
