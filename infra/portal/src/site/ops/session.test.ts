import { afterEach, expect, test, vi } from 'vitest';
import { accountOf, openSession } from './session.ts';
import { errorText } from './text.ts';

const token = 'x.y.z';

/** What a session reports for a request that `fetch` answers so. */
const failureOf = async (fetched: () => Promise<Response>): Promise<unknown> => {
  vi.stubGlobal('fetch', fetched);
  return openSession(accountOf(token), () => {})
    .ask('/v1/stores')
    .catch((error: unknown) => error);
};

/** A response whose connection is lost in the body, which browsers report as a TypeError. */
const cutOff = (): Response =>
  new Response(new ReadableStream({ pull: (body) => body.error(new TypeError('network error')) }));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('the time of the services goes by the Date of their answers, whatever the clock of the browser shows', async () => {
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
])('the gateway cannot be reached when %s; the text says nothing else', async (_, fetched) => {
  expect(errorText(await failureOf(fetched))).toBe('The gateway cannot be reached.');
});

test('a file whose connection is lost is a failure of the network, too', async () => {
  vi.stubGlobal('fetch', () => Promise.resolve(cutOff()));
  const failure = await openSession(accountOf(token), () => {})
    .file('/v1/evidence')
    .catch((error: unknown) => error);
  expect(errorText(failure)).toBe('The gateway cannot be reached.');
});

test('a response that is not JSON is not a failure of the network', async () => {
  const failure = await failureOf(() => Promise.resolve(new Response('<h1>')));
  expect(errorText(failure)).toMatch(/^The page could not show this: /);
});

test('an aborted request is reported as such', async () => {
  const aborted = new DOMException('The operation was aborted.', 'AbortError');
  expect(await failureOf(() => Promise.reject(aborted))).toBe(aborted);
});
