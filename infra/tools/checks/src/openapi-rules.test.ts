import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

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
