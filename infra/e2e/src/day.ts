import { join } from 'node:path';
import { runActor, type Result } from './actor.ts';
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
  results: Record<string, Result>;
  logs: string[];
  /** All errors and differences. */
  faults: string[];
}

const CALM_MS = 500;

/**
 * Lets actors use the platform through the gateway while one program after the other is killed: each at least once, and
 * until `minutes` have passed. Then every actor verifies what was acknowledged, and the logs are searched for secrets.
 * Starts its own stack and leaves nothing behind.
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
    const end = new AbortController();
    const running = actors.map(async (actor) => [actor.name, await runActor(actor, end.signal)] as const);
    const crashes = await crashInTurn(stack, Date.now() + minutes * 60_000, CALM_MS).finally(() =>
      end.abort(),
    );
    say('every program was killed and is running again');
    const results = await Promise.all(running);
    say('the actors have stopped');
    const faults = results.flatMap(([, result]) => result.faults);
    for (const actor of actors) faults.push(...(await actor.verify()));
    say('the acknowledged data are verified');
    const secrets = [
      ...(await secretsOf(stack.local, file)),
      ...actors.flatMap((actor) => actor.secrets?.() ?? []),
    ];
    faults.push(...(await leaks(stack.local, secrets)));
    pids.push(...Object.values(await stack.pids()).filter((pid) => pid !== null));
    return { crashes, results: Object.fromEntries(results), logs: await logsOf(stack.local), faults };
  })();
  const left = pids.filter(isThere);
  return left.length === 0 ? day : { ...day, faults: [...day.faults, `processes ${left.join()} still run`] };
};
