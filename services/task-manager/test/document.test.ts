import supertest from 'supertest';
import { expect, test } from 'vitest';
import { startService } from './harness.ts';

test('the service describes itself in OpenAPI 3.0.3', async () => {
  await using service = await startService();
  const { status, body } = await supertest(service.app).get('/openapi.json');
  expect([status, body.openapi, body.info.version]).toEqual([200, '3.0.3', '1.0.0']);
  expect(body.servers).toEqual([{ url: '/api/v1' }]);
  const operations = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(operations.toSorted()).toEqual([
    'delete /auth/admin/users/{id}/sessions',
    'delete /auth/sessions',
    'delete /auth/sessions/{id}',
    'delete /lists/{id}',
    'delete /tasks/{id}',
    'get /auth/admin/users',
    'get /auth/admin/users/{id}',
    'get /auth/admin/users/{id}/security-events',
    'get /auth/check',
    'get /auth/logout',
    'get /auth/me',
    'get /auth/me/export',
    'get /auth/security-events',
    'get /auth/sessions',
    'get /auth/sessions/{id}',
    'get /feeds/task-manager/tasks',
    'get /feeds/task-manager/tasks/export',
    'get /lists',
    'get /lists/{id}',
    'get /lists/{id}/invitations',
    'get /tasks',
    'get /tasks/{id}',
    'patch /auth/me',
    'patch /lists/{id}',
    'patch /tasks/{id}',
    'post /auth/admin/users/{id}/lock',
    'post /auth/admin/users/{id}/password-reset',
    'post /auth/admin/users/{id}/unlock',
    'post /auth/email',
    'post /auth/email/verification',
    'post /auth/email/verify',
    'post /auth/login',
    'post /auth/login-waits/lift',
    'post /auth/me/delete',
    'post /auth/password',
    'post /auth/password/reset',
    'post /auth/password/reset/confirm',
    'post /auth/reauthenticate',
    'post /auth/refresh',
    'post /auth/register',
    'post /lists',
    'post /lists/join',
    'post /tasks',
    'post /tasks/batch',
  ]);
  expect(Object.keys(body.components.securitySchemes)).toEqual(['bearer', 'cookie', 'operator']);
});
