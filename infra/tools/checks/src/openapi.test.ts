import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const service = join(import.meta.dirname, '../../../../services/task-manager');

/** A folder with the document and the routes of a service. */
const copyService = () => {
  const parent = mkdtempSync(join(tmpdir(), 'openapi-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  // The name tells the program which keys the service has.
  const folder = join(parent, 'task-manager');
  mkdirSync(join(folder, 'src'), { recursive: true });
  cpSync(join(service, 'openapi.json'), join(folder, 'openapi.json'));
  for (const name of ['env', 'context', 'app'])
    writeFileSync(join(folder, `src/${name}.ts`), `export * from '${service}/src/${name}.ts';\n`);
  return { folder, document: join(folder, 'openapi.json') };
};

const run = (folder: string, ...options: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, 'openapi.ts'), ...options], {
    cwd: folder,
    encoding: 'utf8',
  });

test('a document that matches the routes passes and is not rewritten', () => {
  const { folder, document } = copyService();
  const longAgo = new Date(0);
  utimesSync(document, longAgo, longAgo);
  expect(run(folder)).toMatchObject({ status: 0, stderr: '' });
  expect(run(folder, '--write')).toMatchObject({ status: 0, stdout: 'openapi.json: unchanged\n' });
  expect(statSync(document).mtime).toEqual(longAgo);
});

test('a document that does not match the routes fails the check, until it is written', () => {
  const { folder, document } = copyService();
  const text = readFileSync(document, 'utf8');
  writeFileSync(document, text.replace('"Task manager"', '"Another title"'));
  const { status, stderr } = run(folder);
  expect(stderr).toContain('openapi.json does not match the routes');
  expect(status).toBe(1);
  expect(run(folder, '--write')).toMatchObject({ status: 0, stdout: 'openapi.json: written\n' });
  expect(readFileSync(document, 'utf8')).toBe(text);
});

const root = join(import.meta.dirname, '../../../..');

test('each mistake in an OpenAPI document fails the lint', () => {
  const args = ['lint', 'infra/tools/checks/fixtures/openapi.json', '--format=json'];
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/redocly'), args, {
    cwd: root,
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  const { problems } = JSON.parse(stdout) as { problems: { ruleId: string; severity: string }[] };
  const broken = problems.filter(({ severity }) => severity === 'error').map(({ ruleId }) => ruleId);
  expect([...new Set(broken)].toSorted()).toEqual([
    'array-parameter-serialization',
    'info-contact',
    'no-duplicated-enum-values',
    'no-enum-type-mismatch',
    'no-example-value-and-externalValue',
    'no-invalid-media-type-examples',
    'no-invalid-schema-examples',
    'no-path-trailing-slash',
    'no-server-example.com',
    'no-server-trailing-slash',
    'no-unsafe-markdown',
    'no-unused-components',
    'operation-2xx-response',
    'operation-description',
    'operation-operationId',
    'operation-operationId-unique',
    'operation-operationId-url-safe',
    'operation-parameters-unique',
    'operation-tag-defined',
    'path-not-include-query',
    'path-parameters-defined',
    'rule/array-items',
    'rule/example',
    'rule/info-description',
    'rule/operation-id',
    'rule/parameter-description',
    'rule/path-parameter-example',
    'rule/short-summary',
    'spec-ref-siblings',
    'tag-description',
  ]);
});
