import { run, type Account } from './spawn.ts';

const NAME = 'nobody';

/**
 * The user for PostgreSQL, which refuses to run as root: undefined (the current user) unless that is root, otherwise the
 * system's user `nobody`.
 * @throws when there is no such user
 */
export const unprivilegedAccount = async (): Promise<Account | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all([run('id', ['-u', NAME]), run('id', ['-g', NAME])]);
  if (uid.code === 0 && gid.code === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  throw new Error(`PostgreSQL does not run as root, and this machine has no user ${NAME} to run it as`);
};
