import { setTimeout as sleep } from 'node:timers/promises';
import { runActor, type Result } from './actor.ts';
import { author } from './actors/author.ts';
import { casino } from './actors/casino.ts';
import { person } from './actors/person.ts';
import { referee } from './actors/referee.ts';
import { shipper } from './actors/shipper.ts';
import { shop } from './actors/shop.ts';
import { translator } from './actors/translator.ts';
import { findLeaks } from './secrets.ts';
import type { Platform } from './stack.ts';

export interface Day {
  /** How often each program was crashed. */
  crashes: Record<string, number>;
  results: Record<string, Result>;
  /** All errors and differences. */
  faults: string[];
  /** The names of the logs that were searched for secrets. */
  logs: string[];
}

const PAUSE_MS = 500;

/** Kills every program in turn until the time `until` (ms since 1970), each at least once. */
const crashInTurn = async ({ programs, crash }: Platform, until: number): Promise<Record<string, number>> => {
  const crashes: Record<string, number> = {};
  do {
    for (const name of programs) {
      if (Date.now() > until && crashes[name]) continue;
      await sleep(PAUSE_MS);
      await crash(name);
      crashes[name] = (crashes[name] ?? 0) + 1;
    }
  } while (Date.now() < until);
  return crashes;
};

/**
 * Lets actors use the platform through the gateway while one program after the other is killed: each at least once, and
 * until `minutes` have passed. Then every actor verifies what was acknowledged, and the logs are searched for secrets.
 */
export const runDay = async (platform: Platform, minutes = 0): Promise<Day> => {
  const { gateway, demo } = platform.access;
  await using game = casino(platform.gameServer, gateway, demo);
  const actors = [
    person(gateway),
    person(gateway),
    author(gateway, demo.adminToken),
    translator(gateway, demo.adminToken, demo.verifyApiKey),
    shipper(gateway, demo.adminToken),
    shop(platform.access),
    game,
    referee(gateway, demo),
  ];
  const end = new AbortController();
  const running = actors.map(async (actor) => [actor.name, await runActor(actor, end.signal)] as const);
  const crashes = await crashInTurn(platform, Date.now() + minutes * 60_000).finally(() => end.abort());
  const results = await Promise.all(running);
  const faults = results.flatMap(([, result]) => result.faults);
  for (const actor of actors) faults.push(...(await actor.verify()));
  const logs = await platform.logs();
  const secrets = [...platform.secrets, ...actors.flatMap((actor) => actor.secrets?.() ?? [])];
  faults.push(...findLeaks(logs, secrets));
  return { crashes, results: Object.fromEntries(results), faults, logs: Object.keys(logs) };
};
