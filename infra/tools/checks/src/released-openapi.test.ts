import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { breakingChanges } from './breaking-changes.ts';
import { newcomer } from './testing/env.ts';

const color = { type: 'string', enum: ['red', 'blue'] };
const Shirt = {
  type: 'object',
  required: ['id', 'color'],
  properties: {
    id: { type: 'string' },
    color,
    size: { type: 'integer', nullable: true },
    parts: { type: 'array', items: { $ref: '#/components/schemas/Shirt' } },
  },
};
const Input = {
  type: 'object',
  required: ['color'],
  properties: { color, size: { type: 'integer', maximum: 60, nullable: true } },
};

/** The parts of a document that the tests change. */
interface Parts {
  operation: {
    operationId: string;
    parameters: Record<string, unknown>[];
    requestBody: { required: boolean; content: object };
    responses: Record<string, { description?: string; headers?: object; content?: object }>;
  };
  schemas: Record<string, { required: string[]; properties: object }>;
}

/** A document with one operation that sends and returns shirts; `change` changes it. */
const documentWith = (change: (parts: Parts) => void = () => undefined) => {
  const parts = partsOf();
  change(parts);
  const { operation, schemas } = parts;
  return { servers: [{ url: '/v1' }], paths: { '/shirts': { post: operation } }, components: { schemas } };
};
const partsOf = (): Parts =>
  structuredClone({
    operation: {
      operationId: 'makeShirt',
      parameters: [
        { in: 'query', name: 'limit', required: false, schema: { type: 'integer', maximum: 200 } },
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Input' } } },
      },
      responses: {
        '201': {
          description: 'Created',
          headers: { Location: {} },
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Shirt' } } },
        },
        '409': { description: 'Exists already' },
      },
    },
    schemas: { Shirt, Input },
  });

type Change = Parameters<typeof documentWith>[0];
type Fields = Record<string, unknown>;
const fieldsOf = (parts: Parts, name: string): Fields => parts.schemas[name]?.properties as Fields;
const body = 'body application/json';
const answer = '201 application/json';

test.each<[string, Change]>([
  ['409, status', ({ operation }) => void delete operation.responses['409']],
  ['201 Location, header', ({ operation }) => void delete operation.responses['201']?.headers],
  ['query limit, parameter', ({ operation }) => void operation.parameters.pop()],
  [
    'query limit, maximum',
    ({ operation }) =>
      void (operation.parameters[0] = {
        ...operation.parameters[0],
        schema: { type: 'integer', maximum: 100 },
      }),
  ],
  [
    'query page, presence',
    ({ operation }) => void operation.parameters.push({ in: 'query', name: 'page', required: true }),
  ],
  ['operationId', ({ operation }) => void (operation.operationId = 'createShirt')],
  [`${body}, media type`, ({ operation }) => void (operation.requestBody.content = { 'text/csv': {} })],
  [`${body}.size, type`, (parts) => void delete fieldsOf(parts, 'Input')['size']],
  [`${body}.size, null`, (parts) => void (fieldsOf(parts, 'Input')['size'] = { type: 'integer' })],
  [
    `${body}.color, value blue`,
    (parts) => void (fieldsOf(parts, 'Input')['color'] = { type: 'string', enum: ['red'] }),
  ],
  [`${body}.size, presence`, ({ schemas }) => void schemas['Input']?.required.push('size')],
  [`${answer}.size, type`, (parts) => void delete fieldsOf(parts, 'Shirt')['size']],
  [`${answer}.id, type`, (parts) => void (fieldsOf(parts, 'Shirt')['id'] = { type: 'integer' })],
  [
    `${answer}.id, null`,
    (parts) => void (fieldsOf(parts, 'Shirt')['id'] = { type: 'string', nullable: true }),
  ],
  [`${answer}.color, presence`, ({ schemas }) => void schemas['Shirt']?.required.pop()],
])('a change of "%s" breaks callers', (place, change) => {
  const changes = breakingChanges(documentWith(), documentWith(change));
  const places = changes.map(({ subject, fact }) => `${subject}, ${fact}`);
  expect(places).toContain(`POST /v1/shirts, ${place}`);
});

test('a removed operation is reported once', () => {
  const withoutOperation = { ...documentWith(), paths: {} };
  expect(breakingChanges(documentWith(), withoutOperation)).toEqual([
    { subject: 'POST /v1/shirts', fact: 'operation', before: 'exists', after: undefined },
  ]);
});

test('more fields, statuses and operations, and looser limits, break nobody', () => {
  const more = documentWith((parts) => {
    fieldsOf(parts, 'Input')['cut'] = {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', maxLength: 9 } },
    };
    fieldsOf(parts, 'Input')['size'] = { type: 'integer', maximum: 80, nullable: true };
    fieldsOf(parts, 'Shirt')['cut'] = { type: 'string' };
    parts.operation.responses['422'] = {};
  });
  const paths = { ...more.paths, '/hats': { get: { operationId: 'listHats', responses: {} } } };
  expect(breakingChanges(documentWith(), { ...more, paths })).toEqual([]);
});

/** Creates a repository whose last release has one document, and whose checkout has another. */
const repository = (released: object, current: object, changelog = ''): string => {
  const folder = mkdtempSync(join(tmpdir(), 'released-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const git = (...args: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.test', ...args], {
      cwd: folder,
      env: newcomer,
    });
  const write = (document: object, text: string): void => {
    writeFileSync(join(folder, 'services/shirts/openapi.json'), JSON.stringify(document));
    writeFileSync(join(folder, 'CHANGELOG.md'), text);
  };
  mkdirSync(join(folder, 'services/shirts'), { recursive: true });
  write(released, '- `POST /v1/shirts` takes `size`.\n');
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Release');
  git('tag', 'v1.9.0');
  git('commit', '--quiet', '--allow-empty', '--message', 'Release');
  git('tag', 'v1.10.0');
  write(current, `- \`POST /v1/shirts\` takes \`size\`.\n${changelog}`);
  return folder;
};
const check = (cwd: string) =>
  spawnSync(process.execPath, [join(import.meta.dirname, 'released-openapi.ts')], {
    cwd,
    env: newcomer,
    encoding: 'utf8',
  });

const withoutSize = documentWith((parts) => void delete fieldsOf(parts, 'Input')['size']);

test('a breaking change that no new line of CHANGELOG.md names fails the check', () => {
  const { status, stderr } = check(repository(documentWith(), withoutSize));
  expect(stderr).toBe(
    'services/shirts/openapi.json: POST /v1/shirts, body application/json.size: type was integer in v1.10.0 and is missing. ' +
      'Keep it, or add a line with `POST /v1/shirts` and `size` to CHANGELOG.md.\n',
  );
  expect(status).toBe(1);
});

test('a breaking change that a new line of CHANGELOG.md names passes, and so does an unchanged document', () => {
  const line = '- shirts: `POST /v1/shirts` does not take `size` any more.\n';
  expect(check(repository(documentWith(), withoutSize, line))).toMatchObject({ status: 0, stderr: '' });
  expect(check(repository(documentWith(), documentWith()))).toMatchObject({ status: 0, stderr: '' });
});

test('without a release the check passes and says so', () => {
  const folder = repository(documentWith(), withoutSize);
  execFileSync('git', ['tag', '--delete', 'v1.9.0', 'v1.10.0'], { cwd: folder, env: newcomer });
  expect(check(folder)).toMatchObject({ status: 0, stdout: expect.stringContaining('no release yet') });
});
