import { join } from 'node:path';
import { live, type Course } from './actor.ts';
import { author } from './actors/author.ts';
import { casino } from './actors/casino.ts';
import { person } from './actors/person.ts';
import { shipper } from './actors/shipper.ts';
import { shop } from './actors/shop.ts';
import { translator } from './actors/translator.ts';
import { crashInTurn } from './faults.ts';
import { leaks, logsOf, secretsOf } from './secrets.ts';
import { isThere, startStack } from './stack.ts';

export interface Day {
  /** How often each program was crashed. */
  crashes: Record<string, number>;
  courses: Record<string, Course>;
  logs: string[];
  /** Whatever is not as it should be. */
  faults: string[];
}

const CALM_MS = 500;

/**
 * A day through the gateway, while everything is crashed in turn: each program at least once, and on until `minutes`
 * have passed. In the evening every actor accounts for what was acknowledged, and the logs are searched for secrets.
 * Starts a stack of its own and leaves nothing behind.
 */
export const liveThrough = async (minutes: number, say: (line: string) => void): Promise<Day> => {
  const pids: number[] = [];
  const day = await (async (): Promise<Day> => {
    await using stack = await startStack();
    say('the stack is up');
    const file = await stack.read();
    const { gateway, demo } = file;
    await using game = casino(stack, file);
    const actors = [
      person(gateway),
      person(gateway),
      author(gateway, demo.adminToken),
      translator(gateway, demo.adminToken, demo.verifyApiKey),
      shipper(gateway, demo.adminToken),
      shop(join(stack.local, 'stack.json')),
      game,
    ];
    const over = new AbortController();
    const living = actors.map(async (actor) => [actor.name, await live(actor, over.signal)] as const);
    const crashes = await crashInTurn(stack, Date.now() + minutes * 60_000, CALM_MS).finally(() =>
      over.abort(),
    );
    say('everything was crashed and is back');
    const lived = await Promise.all(living);
    say('the day is over');
    const faults = lived.flatMap(([, course]) => course.faults);
    for (const actor of actors) faults.push(...(await actor.account()));
    say('accounted for');
    const secrets = [
      ...(await secretsOf(stack.local, file)),
      ...actors.flatMap((actor) => actor.secrets?.() ?? []),
    ];
    faults.push(...(await leaks(stack.local, secrets)));
    pids.push(...Object.values(await stack.pids()).filter((pid) => pid !== null));
    return { crashes, courses: Object.fromEntries(lived), logs: await logsOf(stack.local), faults };
  })();
  const left = pids.filter(isThere);
  return left.length === 0 ? day : { ...day, faults: [...day.faults, `processes ${left.join()} still run`] };
};
