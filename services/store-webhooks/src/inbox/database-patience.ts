import { Unavailable } from '@platform/service-kit/problem';

/** A database that takes longer counts as unavailable, because senders wait only a few seconds. */
const patienceMs = 2000;
/** The same while many wait: those behind them would be refused. */
const crowdedPatienceMs = 250;
const checkMs = 50;

export const databaseAway = (): Unavailable =>
  new Unavailable('database_unavailable', 'The database is unavailable.');

/**
 * Rejects with `databaseAway` when the database takes too long for `work`, which goes on. While this process is busy, checks
 * come late and the answer may already be there, so the short time is counted in checks.
 */
export const withPatience = async <T>(isCrowded: () => boolean, work: Promise<T>): Promise<T> => {
  const begun = performance.now();
  let checks = 0;
  let timer: NodeJS.Timeout | undefined;
  const away = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      checks += 1;
      const isOver = performance.now() - begun >= patienceMs;
      if (isOver || (checks * checkMs >= crowdedPatienceMs && isCrowded())) reject(databaseAway());
    }, checkMs);
  });
  try {
    return await Promise.race([work, away]);
  } finally {
    clearInterval(timer);
  }
};
