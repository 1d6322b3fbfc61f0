import { afterEach, expect, test, vi } from 'vitest';
import { accountOf, openSession } from './session.ts';
import { errorText } from './text.ts';

const token = 'x.y.z';

/** Returns the error of a request for which `fetch` behaves like this. */
const failureOf = async (fetched: () => Promise<Response>): Promise<unknown> => {
  vi.stubGlobal('fetch', fetched);
  return openSession(accountOf(token), () => {})
    .ask('/v1/stores')
    .catch((error: unknown) => error);
};

/** A response whose connection is lost during the body, which browsers report as a TypeError. */
const cutOff = (): Response =>
  new Response(new ReadableStream({ pull: (body) => body.error(new TypeError('network error')) }));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('serverTime uses the Date header of responses, not the clock of the browser', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-22T13:00:00.000Z') });
  const date = { Date: 'Sun, 22 Nov 2026 10:00:00 GMT' };
  vi.stubGlobal('fetch', () => Promise.resolve(Response.json({}, { headers: date })));
  const session = openSession(accountOf('x.y.z'), () => {});
  await session.ask('/v1/stores');
  expect(session.serverTime()).toEqual(new Date('2026-11-22T10:00:00.000Z'));
  vi.setSystemTime(Date.parse('2026-11-22T13:00:05.000Z'));
  expect(session.serverTime()).toEqual(new Date('2026-11-22T10:00:05.000Z'));
});

test.each([
  ['no response arrives', () => Promise.reject(new TypeError(`Failed to fetch with Bearer ${token}`))],
  ['the connection is lost in the body', () => Promise.resolve(cutOff())],
])('the text is only "The gateway cannot be reached." when %s', async (_, fetched) => {
  expect(errorText(await failureOf(fetched))).toBe('The gateway cannot be reached.');
});

test('a lost connection while reading a file is also a network error', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(cutOff()));
  const failure = await openSession(accountOf(token), () => {})
    .file('/v1/evidence')
    .catch((error: unknown) => error);
  expect(errorText(failure)).toBe('The gateway cannot be reached.');
});

test('a response that is not JSON is not a network error', async () => {
  const failure = await failureOf(() => Promise.resolve(new Response('<h1>')));
  expect(errorText(failure)).toMatch(/^The page could not show this: /);
});

test('an aborted request is reported as an abort', async () => {
  const aborted = new DOMException('The operation was aborted.', 'AbortError');
  expect(await failureOf(() => Promise.reject(aborted))).toBe(aborted);
});
