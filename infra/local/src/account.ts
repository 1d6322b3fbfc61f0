import { run, type Account } from './spawn.ts';

const NAME = 'postgres';

const lookUp = async (): Promise<Account | undefined> => {
  const [uid, gid] = await Promise.all([run('id', ['-u', NAME]), run('id', ['-g', NAME])]);
  if (uid.code !== 0 || gid.code !== 0) return undefined;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
};

const create = async (): Promise<void> => {
  const made = await run('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    NAME,
  ]);
  // Alpine and other busybox systems have no useradd.
  if (made.code === null) await run('adduser', ['-S', '-D', '-H', NAME]);
};

/**
 * The user for PostgreSQL and Redis: undefined (the current user) unless that is root; then the system's user `postgres`,
 * which is created when it does not exist.
 * @throws when root cannot create it
 */
export const unprivilegedAccount = async (): Promise<Account | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  const known = await lookUp();
  if (known) return known;
  await create();
  const created = await lookUp();
  if (!created) throw new Error(`PostgreSQL does not run as root, and the user ${NAME} could not be created`);
  return created;
};

/** Whether the account has this right to the path (`r` read, `w` write, `x` run or enter), checked by the system. */
export const may = async (
  account: Account | undefined,
  right: 'r' | 'w' | 'x',
  path: string,
): Promise<boolean> => (await run('test', [`-${right}`, path], { account })).code === 0;
