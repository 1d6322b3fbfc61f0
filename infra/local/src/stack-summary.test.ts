import { expect, test } from 'vitest';
import type { Stack } from './local-folder.ts';
import { stackSummary } from './stack-summary.ts';

const stack: Stack = {
  gateway: 'http://127.0.0.1:8080',
  services: {},
  postgres: { url: 'postgres://postgres:hidden@127.0.0.1:4132/postgres', pid: 1, dataDir: '/data' },
  redis: null,
  nginx: { pid: 1 },
  demo: { adminToken: `eyJ${'a'.repeat(200)}`, consignmentsToken: `eyJ${'b'.repeat(200)}` },
};

test('a command reads its token from stack.json instead of containing it', () => {
  const command = `curl -H 'Authorization: Bearer ${String(stack.demo['adminToken'])}' http://127.0.0.1:8080/v1/quests`;
  const summary = stackSummary(stack, [{ title: 'Quests', command }], '/p/.local', undefined);
  expect(summary).toContain(
    `curl -H "Authorization: Bearer $(node -p 'require("/p/.local/stack.json").demo.adminToken')" http`,
  );
  expect(summary).not.toContain('a'.repeat(100));
});

test('the summary contains no password', () => {
  expect(stackSummary(stack, [], '/p/.local', undefined)).not.toContain('hidden');
});
