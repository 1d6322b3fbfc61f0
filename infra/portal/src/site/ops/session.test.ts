import { afterEach, expect, test, vi } from 'vitest';
import { openSession } from './session.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('the time of the services goes by the Date of their answers, whatever the clock of the browser shows', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-22T13:00:00.000Z') });
  const date = { Date: 'Sun, 22 Nov 2026 10:00:00 GMT' };
  vi.stubGlobal('fetch', () => Promise.resolve(Response.json({}, { headers: date })));
  const session = openSession('x.y.z', () => {});
  await session.ask('/v1/stores');
  expect(session.serverTime()).toEqual(new Date('2026-11-22T10:00:00.000Z'));
  vi.setSystemTime(Date.parse('2026-11-22T13:00:05.000Z'));
  expect(session.serverTime()).toEqual(new Date('2026-11-22T10:00:05.000Z'));
});
