import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cell, cellNames, inCell } from './cells.ts';

beforeEach(() => {
  vi.stubGlobal('SERVICES', [
    { name: 'store-webhooks', addresses: ['/api/v1/hooks', '/v1/stores'], cells: ['b', 'c'] },
    { name: 'wallet-operator', addresses: ['/callback', '/v1/players'], cells: ['b'] },
    { name: 'quest-service', addresses: ['/v1/quests'], cells: [] },
  ]);
});
afterEach(() => {
  cell.value = '';
  vi.unstubAllGlobals();
});

test('cellNames lists the cells of all services without duplicates', () => {
  expect(cellNames()).toEqual(['b', 'c']);
});

test.each([
  ['b', '/v1/stores', '/cells/b/v1/stores'],
  ['b', '/v1/stores?limit=1', '/cells/b/v1/stores?limit=1'],
  ['b', '/v1/players/a%20b/entries', '/cells/b/v1/players/a%20b/entries'],
  ['b', '/docs/ops/summary/wallet-operator', '/docs/ops/summary/wallet-operator-b'],
  ['b', '/docs/status/store-webhooks', '/docs/status/store-webhooks-b'],
  // Paths of another service, or of a service without this cell.
  ['b', '/v1/storesX', '/v1/storesX'],
  ['b', '/v1/quests', '/v1/quests'],
  ['b', '/docs/ops/summary/quest-service', '/docs/ops/summary/quest-service'],
  ['b', '/docs/ops/mails', '/docs/ops/mails'],
  ['c', '/v1/players', '/v1/players'],
  ['', '/v1/stores', '/v1/stores'],
])('in the cell "%s" the path %s becomes %s', (name, path, address) => {
  cell.value = name;
  expect(inCell(path)).toBe(address);
});
