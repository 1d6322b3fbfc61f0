import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startForDecisions } from '../../../test/decisions.ts';
import { person } from '../../../test/people.ts';

const { player, service, sql } = startForDecisions();

const dayMs = 86_400_000;
const offsetMs = { UTC: 0, 'Asia/Kolkata': 5.5 * 3_600_000 };
type Zone = keyof typeof offsetMs;

const dateIn = (days: number): string => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

type Step = { days: number } | { excluded?: boolean; excludedUntil?: string | null };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ days: fc.integer({ min: 1, max: 4 }) }),
  fc.record(
    {
      excluded: fc.boolean(),
      excludedUntil: fc.option(fc.integer({ min: -3, max: 6 }).map(dateIn)),
    },
    { requiredKeys: [] },
  ),
);

const endOfDay = (time: number, zone: Zone): number =>
  (Math.floor((time + offsetMs[zone]) / dayMs) + 1) * dayMs - offsetMs[zone];

/** The expected end of an exclusion after a change, in Unix milliseconds; 0: no exclusion. */
const endAfter = (
  end: number,
  { excluded, excludedUntil }: Exclude<Step, { days: number }>,
  zone: Zone,
  now: number,
): number => {
  const isExcluded = end > now;
  const earliest = isExcluded ? Math.min(end, endOfDay(now + dayMs, zone)) : 0;
  if (excluded === false) return earliest;
  if (typeof excludedUntil === 'string') {
    const requested = Math.max(endOfDay(Date.parse(excludedUntil) - offsetMs[zone], zone), earliest);
    // A new exclusion whose last day is in the past is refused.
    return excluded && requested <= now ? end : requested;
  }
  if (excludedUntil === null && (isExcluded || excluded)) return Infinity;
  return excluded ? Infinity : end;
};

test("an exclusion starts immediately, lasts at least until the end of tomorrow, and ends with its last day in the player's time zone", async () => {
  const { patch, get } = await person(service());
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<Zone>('UTC', 'Asia/Kolkata'),
      fc.array(step, { minLength: 1, maxLength: 8 }),
      async (zone, steps) => {
        const caller = await player();
        const path = `/v1/players/${caller.playerId}`;
        await patch(path, { timeZone: zone });
        let end = 0;
        for (const change of steps) {
          if ('days' in change) {
            // The database clock can't be changed, so the end of the exclusion is moved instead.
            await sql()`update players set excluded_until = excluded_until - make_interval(days => ${change.days})
              where player_id = ${caller.playerId}`;
            end -= change.days * dayMs;
          } else {
            end = endAfter(end, change, zone, Date.now());
            await patch(path, change);
          }
          const { body } = await get(path);
          const isExcluded = end > Date.now();
          expect(body).toMatchObject({ excluded: isExcluded });
          expect((await caller.debit({ amount: '0' })).status).toBe(
            isExcluded ? 'ERROR_PLAYER_DISABLED' : 'OK',
          );
          const [row] = await sql()<{ end: number | null }[]>`
            select extract(epoch from excluded_until)::float8 * 1000 as end from players
            where player_id = ${caller.playerId}`;
          const stored = row?.end ?? 0;
          expect(stored === end || !isExcluded).toBe(true);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('another time zone never shortens the last day of an exclusion', async () => {
  const { patch } = await person(service());
  const path = `/v1/players/${(await player()).playerId}`;
  await patch(path, { timeZone: 'Asia/Tokyo', excludedUntil: '2099-12-01' });
  await patch(path, { timeZone: 'America/Los_Angeles' });
  const [row] =
    await sql()`select excluded_until = '2099-12-02 00:00 America/Los_Angeles' as "isWhole" from players
    where player_id = ${path.slice(12)}`;
  expect(row).toEqual({ isWhole: true });
});

test('an exclusion whose last day is in the past is refused', async () => {
  const caller = await player();
  const { patch, get } = await person(service());
  const path = `/v1/players/${caller.playerId}`;
  const refused = await patch(path, { excluded: true, excludedUntil: '2026-01-01', name: 'Bo' });
  expect(refused).toMatchObject({ status: 400, body: { errors: { excludedUntil: [expect.any(String)] } } });
  expect((await get(path)).body).toMatchObject({ excluded: false, excludedUntil: null, name: null });
});

test("the last day of an exclusion is in the player's time zone, even if the clock changes at its end", async () => {
  const { patch } = await person(service());
  for (const [timeZone, excludedUntil] of [
    ['America/Havana', '2026-10-31'],
    ['America/Havana', '2099-03-07'],
    ['Pacific/Apia', '2099-01-01'],
    ['UTC', '9999-12-31'],
  ]) {
    const { playerId } = await player();
    const { body } = await patch(`/v1/players/${playerId}`, { timeZone, excludedUntil });
    expect(body).toMatchObject({ excludedUntil });
  }
});

test('renewing an exclusion that was about to end makes it endless again', async () => {
  const { patch } = await person(service());
  const path = `/v1/players/${(await player()).playerId}`;
  await patch(path, { excluded: true });
  const { body } = await patch(path, { excluded: false });
  expect(body).toMatchObject({ excluded: true, excludedUntil: dateIn(1) });
  expect((await patch(path, { excluded: true })).body).toMatchObject({ excluded: true, excludedUntil: null });
});
