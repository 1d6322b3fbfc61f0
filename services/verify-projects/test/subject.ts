import { call, type ServiceSetup, type Access } from '@platform/openapi-tests/setup';

/** Languages, and a key that reads and subscribes. */
export const setUp = async (server: Access): Promise<ServiceSetup> => {
  for (const code of ['en', 'de', 'fr'])
    await call(server, 'PUT', `/v1/languages/${code}`, { name: code, native_name: code, direction: 'ltr' });
  const { body } = await call(server, 'POST', '/v1/api-keys', {
    name: 'exercise',
    scopes: ['verify:read', 'verify-projects:subscriptions'],
  });
  return {
    credentials: { apiKey: String(body['key']), bearer: server.token },
    values: { code: ['en', 'de', 'fr'], language: ['de', 'fr'], source_language: ['en'], due_at: [null] },
  };
};
