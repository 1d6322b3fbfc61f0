import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { etagOf, expectedVersions, isNotModified } from './etag.ts';

const request = (headers: Record<string, string>) => ({ headers }) as unknown as IncomingMessage;

test.each(['"7"', 'W/"7"', '"6", "7"', '"6",W/"7"', ' "7" ', '*', '"a,b", "7"'])(
  'If-None-Match %s matches version 7',
  (field) => expect(isNotModified(request({ 'if-none-match': field }), 7)).toBe(true),
);

test.each(['"8"', '7', '""', '"7', 'w/"7"', '"7" 7', '**', ''])(
  'If-None-Match %s does not match version 7',
  (field) => expect(isNotModified(request({ 'if-none-match': field }), '7')).toBe(false),
);

test('without the header the client has no version and any version matches', () => {
  expect(isNotModified(request({}), '7')).toBe(false);
  expect(expectedVersions(request({}))).toBeUndefined();
});

test('If-Match lists versions; a comma between quotes belongs to the version', () => {
  expect(expectedVersions(request({ 'if-match': '"6", W/"7"' }))).toEqual(['6', '7']);
  expect(expectedVersions(request({ 'if-match': '"a,b"' }))).toEqual(['a,b']);
  expect(expectedVersions(request({ 'if-match': '*' }))).toBeUndefined();
});

test.each(['7', '', '"7', '*, "7"'])('If-Match %s is rejected with the name of the header', (field) => {
  expect(() => expectedVersions(request({ 'if-match': field }))).toThrow(/If-Match: must be entity tags/);
});

test('the tag of a version matches that version', () => {
  expect(isNotModified(request({ 'if-none-match': etagOf('v1') }), 'v1')).toBe(true);
});
