import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { readServices, withCells, type ListedService } from './read.ts';
import { services } from './services.ts';

const listed = {
  port: 1,
  purpose: 'Keeps notes.',
  callers: 'Anybody',
  paths: [{ path: '/v1/notes' }],
  deploy: {
    replicas: { min: 1, max: 1, cpu: 70 },
    resources: { cpu: '1', memory: '1Gi', memoryLimit: '1Gi' },
    pool: 1,
    probe: '/v1/notes',
  },
  rehearsal: { stored: 'select id from notes', rename: { table: 'notes', column: 'text', type: 'text' } },
};

const read = (list: object): ListedService[] => {
  const folder = mkdtempSync(join(tmpdir(), 'services-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'services.yaml'), stringify(list));
  return readServices(join(folder, 'services.yaml'));
};

test('the list of the repository is valid', () => {
  expect(services.length).toBeGreaterThanOrEqual(6);
});

test('services are sorted by port, and lists that services.yaml omits are empty', () => {
  const second = { ...listed, port: 2, paths: [{ path: '/v1/others' }] };
  const parsedServices = read({ 'the-second': second, first: listed });
  expect(parsedServices.map(({ name }) => name)).toEqual(['first', 'the-second']);
  expect(parsedServices[0]).toMatchObject({ scopes: [], secrets: [], keys: [], folders: [] });
  expect(parsedServices[1]?.database).toBe('the_second');
});

test.each([
  ['port', { port: 11 }, 'must be at most 10'],
  ['port', { port: 'abc' }, 'must be a whole number'],
  ['purpose', { purpose: undefined }, 'expected string'],
  ['paths', { paths: [] }, 'must have at least one address'],
  ['paths[0].path', { paths: [{ path: '/v1/Notes' }] }, 'must be segments of lower-case letters'],
  [
    'paths[0].path',
    { paths: [{ path: '/v1/notes { return 200; }' }] },
    'must be segments of lower-case letters',
  ],
  ['paths[0].maxBody', { paths: [{ path: '/a', maxBody: '1t' }] }, 'must be a size such as 32m'],
  ['paths[0]', { paths: [{ path: '/a', maxbody: '1m' }] }, 'maxbody'],
  ['secrets', { secrets: 'PEPPER' }, 'expected array'],
  ['secrets[0]', { secrets: ['pepper'] }, 'must be the name of a variable'],
  ['deploy', { deploy: undefined }, 'expected object'],
  ['cells[0]', { cells: ['B'] }, 'must be at most 15 lower-case letters and digits'],
  ['cells[0]', { cells: ['1b'] }, 'must be at most 15 lower-case letters and digits'],
  ['cells[0]', { cells: ['a-b'] }, 'must be at most 15 lower-case letters and digits'],
  ['cells[0]', { cells: ['b'.repeat(16)] }, 'must be at most 15 lower-case letters and digits'],
  // The gateway, the database or the deployment already use these as name suffixes.
  ['cells[0]', { cells: ['streams'] }, 'must be at most 15 lower-case letters and digits'],
  ['cells[0]', { cells: ['owner'] }, 'must be at most 15 lower-case letters and digits'],
  ['cells', { cells: ['b', 'c', 'b'] }, 'must be different'],
  ['cells', { cells: [...'bcdefghij'] }, 'must be at most 8'],
  ['cells', { cells: ['b'] }, 'only store-webhooks and wallet-operator can have cells'],
  ['deploy.pool', { deploy: { ...listed.deploy, pool: 0 } }, 'must be at least 1'],
])('an invalid %s is reported with its reason and its field', (field, wrong, reason) => {
  const reading = () => read({ notes: { ...listed, ...wrong } });
  expect(reading).toThrow('services.yaml:\n');
  expect(reading).toThrow(reason);
  expect(reading).toThrow(`at notes.${field}`);
});

test('a service name that is invalid for a database or a role is rejected', () => {
  expect(() => read({ 'x"; drop role': listed })).toThrow('must be at most 41 lower-case letters');
});

test('the error names both services that share a port or a path', () => {
  expect(() => read({ a: listed, b: { ...listed, paths: [{ path: '/b' }] } })).toThrow(
    'a and b have the same port 1',
  );
  expect(() => read({ a: listed, b: { ...listed, port: 2 } })).toThrow(
    'a and b have the same path /v1/notes',
  );
});

test('a cell is the same service with a separate name, port, address, database and Redis database', () => {
  const standIn = {
    name: 'peer',
    port: 85,
    program: 'a.ts',
    serviceUrlVariable: 'A',
    urlVariable: 'B',
    settings: {},
  };
  const volume = { name: 'spool', variable: 'SPOOL_DIR', path: '/data', size: '1Gi' };
  const wallet = { ...listed, port: 4, cells: ['b', 'c'], standIn, deploy: { ...listed.deploy, volume } };
  const [first, cellB, cellC, ...others] = withCells(read({ 'wallet-operator': wallet }));
  expect(others).toEqual([]);
  expect(first).toMatchObject({
    name: 'wallet-operator',
    image: 'wallet-operator',
    prefix: '',
    redisDatabase: 0,
    cellSettings: {},
  });
  expect(cellB).toEqual({
    ...first,
    name: 'wallet-operator-b',
    database: 'wallet_operator_b',
    prefix: '/cells/b',
    redisDatabase: 1,
    cellSettings: { DATABASE_SCHEMA: 'wallet_operator_b', SIGNATURE_PATH_PREFIX: '/cells/b' },
    port: 104,
    paths: [{ path: '/cells/b/v1/notes' }],
    deploy: { ...first?.deploy, probe: '/cells/b/v1/notes', volume: { ...volume, name: 'spool-b' } },
    standIn: { ...first?.standIn, name: 'peer-b', port: 185 },
  });
  expect(cellC).toMatchObject({ name: 'wallet-operator-c', redisDatabase: 2, port: 204 });
});

test('the error names a service and a cell that share a database', () => {
  const other = { ...listed, port: 2, paths: [{ path: '/b' }] };
  expect(() => read({ 'wallet-operator': { ...listed, cells: ['b'] }, 'wallet-operator-b': other })).toThrow(
    'have the same database wallet_operator_b',
  );
});
