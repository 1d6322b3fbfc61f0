import { run, type Account } from './run.ts';

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
 * The unprivileged user for PostgreSQL and Redis: undefined (ourselves) unless we are root,
 * then the system's user `postgres`, created when it is missing.
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

/** Whether the account may do this with the path (`x` run or traverse, `w` write), asked of the system itself. */
export const may = async (
  account: Account | undefined,
  right: 'r' | 'w' | 'x',
  path: string,
): Promise<boolean> => (await run('test', [`-${right}`, path], { account })).code === 0;
