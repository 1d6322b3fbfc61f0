import { startBackground } from '@platform/service-kit/background';
import type { Context } from '../../context.ts';

const everyMs = 3_600_000;

/** Keeps a partition of the refusals for each of the next days, and none for days before REFUSALS_DAYS. */
export const keepRefusalDays = ({ database: { sql }, env, log, resources }: Context): void => {
  const run = async () => void (await sql`select keep_refusal_days(${env.REFUSALS_DAYS})`);
  resources.use(startBackground({ name: 'refusals', everyMs, log, run }));
};
