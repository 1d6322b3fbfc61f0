import { startBackground } from '@platform/service-kit/background';
import type { Context } from '../context.ts';
import { leaveList } from '../lists/use-cases.ts';
import { eraseRows, lockDueUser } from './erasure-queries.ts';

/** Pause after all that was due is erased. */
const pauseMs = 600_000;

/**
 * Erases the users whose time is over in small transactions until disposed of: first they leave their lists, one after the
 * other. Every instance runs it; only one works at a time.
 */
export const startErasure = ({ database: { sql }, log }: Context): AsyncDisposable =>
  startBackground({
    name: 'erasure',
    everyMs: pauseMs,
    log,
    run: () =>
      sql.begin(async (tx) => {
        const user = await lockDueUser(tx);
        if (user === undefined) return false;
        if ((await leaveList(tx, user.id)) || (await eraseRows(tx, user))) return true;
        log.info('an account was erased');
        return true;
      }),
  });
