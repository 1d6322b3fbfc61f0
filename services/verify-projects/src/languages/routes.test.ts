import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type Service } from '../../test/harness.ts';
import { LanguageList } from './schema.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const arabic = { name: 'Arabic', native_name: 'العربية', direction: 'rtl' };

describe('languages', () => {
  test('are added, replaced, listed as one page and deleted; their codes are stored in canonical case', async () => {
    await service.admin
      .put('/languages/pt-br', { name: 'Portuguese', native_name: 'Português', direction: 'ltr' })
      .expect(201);
    const added = await service.admin.put('/languages/ar', { ...arabic, native_name: '?' }).expect(201);
    expect(added.body.code).toBe('ar');
    const replaced = await service.admin.put('/languages/AR', arabic).expect(200);
    expect(replaced.body).toEqual({ code: 'ar', ...arabic });

    const { body } = await service.read('/languages').expect(200);
    expect(LanguageList.strict().parse(body)).toEqual(body);
    expect(body).toEqual({
      languages: [
        { code: 'ar', ...arabic },
        { code: 'pt-BR', name: 'Portuguese', native_name: 'Português', direction: 'ltr' },
      ],
      page: { number: 1, has_more: false, limit: 2 },
    });

    for (const code of ['ar', 'pt-BR']) await service.admin.delete(`/languages/${code}`).expect(204);
    await service.admin.delete('/languages/ar').expect(404);
    const { body: empty } = await service.read('/languages').expect(200);
    expect(empty).toEqual({ languages: [], page: { number: 1, has_more: false, limit: 0 } });
  });

  test.for(['limit=10', 'page=1', 'status=draft'])(
    'have a list without query parameters: ?%s',
    async (query) => {
      const { body } = await service.read(`/languages?${query}`).expect(400);
      expect(body.code).toBe('validation_failed');
      expect(Object.keys(body.errors)).toEqual([query.split('=')[0]]);
    },
  );

  test.for([
    ['direction', '/languages/ar', { ...arabic, direction: 'up' }],
    ['name', '/languages/ar', { ...arabic, name: '' }],
    ['script', '/languages/ar', { ...arabic, script: 'Arab' }],
    ['code', '/languages/a', arabic],
    ['code', '/languages/en%20us', arabic],
    ['code', `/languages/de-${'x'.repeat(40)}`, arabic],
  ] as const)('are refused for their %s (%s)', async ([field, path, input]) => {
    const { body } = await service.admin.put(path, input).expect(400);
    expect(Object.keys(body.errors)).toEqual([field]);
  });
});
