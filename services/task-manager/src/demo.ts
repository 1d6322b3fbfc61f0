/** Loads a user with tasks and prints their credentials and a command to try. Can be repeated. */
import { migrationUrl } from '@platform/service-kit/env';
import { openDatabase } from '@platform/service-kit/db';
import { createPasswords } from '@platform/auth/password';
import { tasks, users } from './db/tables.ts';
import { demoTasks } from './demo-tasks.ts';
import { gatewayUrl } from './env.ts';

const user = {
  id: '01900000-0000-7000-8000-0000000000d0',
  email: 'demo@example.test',
  name: 'Dana Demo',
  createdAt: new Date().toISOString(),
};
const password = 'try-me-out-2026';

await using database = openDatabase({ url: migrationUrl(), name: 'task-manager-demo', max: 1 });
const passwordHash = await createPasswords().hash(password);
await database.orm.transaction(async (transaction) => {
  await transaction
    .insert(users)
    .values({ ...user, passwordHash })
    .onConflictDoUpdate({ target: users.id, set: { passwordHash } });
  await transaction
    .insert(tasks)
    .values(demoTasks(new Date()).map((task) => ({ ...task, ownerId: user.id })))
    .onConflictDoNothing();
});

const base = `${gatewayUrl()}/api/v1`;
const credentials = JSON.stringify({ email: user.email, password });
// One process for both requests keeps the cookies in memory: no file with a session is left behind.
const login = `curl -s -b '' -o /dev/null -H 'Content-Type: application/json' -d '${credentials}' ${base}/auth/login`;
const list = `-s -b '' '${base}/tasks?status=todo&sort=dueDate&limit=3'`;

process.stdout.write(
  JSON.stringify({
    demo: { user: { email: user.email, password } },
    curls: [{ title: 'Log in and see what is due next', command: `${login} --next ${list}` }],
  }),
);
