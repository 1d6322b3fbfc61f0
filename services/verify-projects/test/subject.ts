import { call, type Arranged, type Caller } from '@platform/openapi-tests/place';

/** Languages, and a key that reads. */
export const arrange = async (place: Caller): Promise<Arranged> => {
  for (const code of ['en', 'de', 'fr'])
    await call(place, 'PUT', `/v1/languages/${code}`, { name: code, native_name: code, direction: 'ltr' });
  const { body } = await call(place, 'POST', '/v1/api-keys', { name: 'exercise', scopes: ['verify:read'] });
  return {
    credentials: { apiKey: String(body['key']), bearer: place.token },
    values: { code: ['en', 'de', 'fr'], language: ['de', 'fr'], source_language: ['en'], due_at: [null] },
  };
};
