import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { services } from '@platform/service-list';
import { expect, test } from 'vitest';
import { demoIds, addExamples, type Document } from './fill-in.ts';

const inPath = (example?: string) => ({
  name: 'id',
  in: 'path',
  ...(example !== undefined && { example }),
});

test('a parameter of the path gets the demo value of its name, otherwise it keeps its example', () => {
  const { paths } = addExamples(
    {
      paths: {
        '/jobs/{id}': { get: { parameters: [inPath('documented')] } },
        '/rounds/{id}': { get: { parameters: [inPath()] } },
        '/hooks/paid/{token}': { post: { parameters: [{ name: 'token', in: 'path' }] } },
      },
    },
    { token: 'secret' },
    '1f2e',
  );
  expect(paths['/jobs/{id}']?.['get']?.parameters?.[0]?.example).toBe('documented');
  expect(paths['/rounds/{id}']?.['get']?.parameters?.[0]).not.toHaveProperty('example');
  expect(paths['/hooks/paid/{token}']?.['post']?.parameters?.[0]?.example).toBe('secret');
});

test('values for a single use get the same new suffix everywhere, and other values do not change', () => {
  const content = (example: object) => ({ requestBody: { content: { 'application/json': { example } } } });
  const { paths } = addExamples(
    {
      paths: {
        '/bets': { post: content({ bet: 'my-bet', name: 'my client', email: 'my-name@example.test' }) },
        '/reversals': { post: content({ of: ['my-bet'] }) },
      },
    },
    {},
    '1f2e',
  );
  const exampleOf = (path: string) =>
    paths[path]?.['post']?.requestBody?.content['application/json']?.example;
  expect(exampleOf('/bets')).toEqual({
    bet: 'my-bet-1f2e',
    name: 'my client',
    email: 'my-name-1f2e@example.test',
  });
  expect(exampleOf('/reversals')).toEqual({ of: ['my-bet-1f2e'] });
});

test('every demo value belongs to an existing parameter', () => {
  const folder = join(import.meta.dirname, '../../../../services');
  const paths = services.flatMap(({ name }) =>
    Object.keys((JSON.parse(readFileSync(join(folder, name, 'openapi.json'), 'utf8')) as Document).paths),
  );
  for (const id of Object.keys(demoIds({ accessToken: 't', email: 'e', password: 'p' })))
    expect(paths.join(' ')).toContain(`{${id}}`);
});
