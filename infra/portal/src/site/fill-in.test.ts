import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { services } from '@platform/gateway/routes';
import { describe, expect, test } from 'vitest';
import { examples } from './examples.ts';
import { fillIn, type Document } from './fill-in.ts';

const folder = join(import.meta.dirname, '../../../../services');
const documentOf = (name: string): Document =>
  JSON.parse(readFileSync(join(folder, name, 'openapi.json'), 'utf8')) as Document;
const demo = {
  accessToken: 't',
  questId: 'a-quest',
  store: { id: 'a-store', webhookToken: 'a-token' },
  playerId: 'a-player',
  gameCode: 'a-game',
};

test('parameters are named by what stands before them, and what has an example keeps it', () => {
  const parameters = () => [{ name: 'id', in: 'path' }];
  const { paths } = fillIn(
    {
      paths: {
        '/stores/{id}': { get: { parameters: parameters() } },
        '/jobs/{id}': { get: { parameters: parameters() } },
        '/hooks/paid/{token}': {
          post: {
            parameters: [{ name: 'token', in: 'path' }],
            requestBody: { content: { 'application/json': { example: 'mine' }, 'text/plain': {} } },
          },
        },
      },
    },
    { ids: { stores: 's', token: 't' }, bodies: { 'POST /hooks/paid/{token}': 'theirs' } },
  );
  expect(paths['/stores/{id}']?.['get']?.parameters?.[0]?.example).toBe('s');
  expect(paths['/jobs/{id}']?.['get']?.parameters?.[0]).not.toHaveProperty('example');
  expect(paths['/hooks/paid/{token}']?.['post']).toMatchObject({
    parameters: [{ example: 't' }],
    requestBody: {
      content: { 'application/json': { example: 'mine' }, 'text/plain': { example: 'theirs' } },
    },
  });
});

describe.each([...services])('the examples of %s', (name) => {
  const document = documentOf(name);
  const given = examples[name]?.(demo, '1');

  test('belong to operations that exist', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations).toEqual(expect.arrayContaining(Object.keys(given?.bodies ?? {})));
  });

  test('belong to parameters that exist', () => {
    const path = Object.keys(document.paths).join(' ');
    for (const id of Object.keys(given?.ids ?? {}))
      expect(path).toMatch(new RegExp(`/${id}/\\{|\\{${id}\\}`));
  });
});
