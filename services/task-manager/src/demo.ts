/** Loads demo users and their tasks, and prints their credentials and commands to try. Can be repeated. */
import { randomBytes } from 'node:crypto';
import { migrationUrl } from '@platform/service-kit/env';
import { openDatabase } from '@platform/service-kit/db';
import { createPasswords } from '@platform/auth/password';
import { listMembers, lists, sessions, tasks, users } from './db/tables.ts';
import { demoTasks, sharedTasks } from './demo-tasks.ts';
import { gatewayUrl } from './env.ts';

const now = new Date();
const createdAt = now.toISOString();
const user = {
  id: '01900000-0000-7000-8000-0000000000d0',
  email: 'demo@example.test',
  name: 'Dana Demo',
  createdAt,
};
/** Second user, who shares the list with the demo user. */
const partner = {
  id: '01900000-0000-7000-8000-0000000000d1',
  email: 'finn@example.test',
  name: 'Finn Demo',
  createdAt,
};
const list = {
  id: '01900000-0000-7000-8000-00000000d100',
  name: 'Household',
  createdAt,
  updatedAt: createdAt,
};
const members = [
  { email: user.email, userId: user.id, role: 'owner' },
  { email: partner.email, userId: partner.id, role: 'editor' },
  { email: 'grandma@example.test', userId: null, role: 'viewer' },
] as const;
const password = 'try-me-out-2026';
/** A session of the demo user whose tokens nobody has. */
const session = {
  userId: user.id,
  id: '01900000-0000-7000-8000-00000000d5e0',
  refreshHash: randomBytes(32),
  browser: 'Firefox on Windows',
  network: '198.51.100.7',
  createdAt,
  authenticatedAt: createdAt,
  lastUsedAt: createdAt,
  expiresAt: new Date(now.getTime() + 30 * 86_400_000).toISOString(),
};

await using database = openDatabase({ url: migrationUrl('task-manager'), name: 'task-manager-demo', max: 1 });
const passwordHash = await createPasswords().hash(password);
await database.orm.transaction(async (transaction) => {
  await transaction
    .insert(users)
    .values([user, partner].map((account) => ({ ...account, passwordHash })))
    .onConflictDoUpdate({ target: users.id, set: { passwordHash } });
  await transaction
    .insert(sessions)
    .values(session)
    .onConflictDoUpdate({ target: [sessions.userId, sessions.id], set: session });
  await transaction.insert(lists).values(list).onConflictDoNothing();
  await transaction
    .insert(listMembers)
    .values(
      members.map((member, n) => ({
        ...member,
        listId: list.id,
        invitation: `01900000-0000-7000-8000-00000000d18${n}`,
        invitedAt: createdAt,
      })),
    )
    .onConflictDoNothing();
  await transaction
    .insert(tasks)
    .values([
      ...demoTasks(now).map((task) => ({ ...task, ownerId: user.id })),
      ...sharedTasks(now, list.id, [user.id, partner.id]).map((task) => ({ ...task, ownerId: list.id })),
    ])
    .onConflictDoNothing();
});

const base = `${gatewayUrl()}/api/v1`;
const credentials = JSON.stringify({ email: user.email, password });
// One curl process sends both requests and keeps the cookies in memory, so that no file with a session is left behind.
const login = `curl -s -b '' -o /dev/null -H 'Content-Type: application/json' -d '${credentials}' ${base}/auth/login`;
const next = `-s -b '' '${base}/tasks?status=todo&sort=dueDate&limit=3'`;
const invitation = JSON.stringify({ members: { 'neighbour@example.test': { role: 'viewer' } } });
const invite = `-s -b '' -X PATCH -H 'Content-Type: application/json' -d '${invitation}' ${base}/lists/${list.id}`;
const shared = `-s -b '' '${base}/tasks?list=${list.id}&due=week&status=todo,in_progress'`;

process.stdout.write(
  JSON.stringify({
    demo: { user: { email: user.email, password }, partner: { email: partner.email, password } },
    curls: [
      { title: 'Log in and see what is due next', command: `${login} --next ${next}` },
      { title: 'See what the household shares this week', command: `${login} --next ${shared}` },
      { title: 'Invite a neighbour to the list of the household', command: `${login} --next ${invite}` },
    ],
  }),
);
