import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runActor, type Result } from './actor.ts';
import { author } from './actors/author.ts';
import { casino } from './actors/casino.ts';
import { person } from './actors/person.ts';
import { referee } from './actors/referee.ts';
import { shipper } from './actors/shipper.ts';
import { shop } from './actors/shop.ts';
import { translator } from './actors/translator.ts';
import type { StackFile, Platform } from './stack.ts';

/** Files and folders of a stack that may contain secrets; all others are logs. */
const SECRET_PATHS = ['data', 'keys', 'folders', 'secrets.json', 'stack.json', 'nginx/gateway-secret.conf'];

/** All tokens, keys and passwords of a running stack. */
export const secretsOf = async (
  local: string,
  { demo, services, postgres }: StackFile,
): Promise<string[]> => {
  const generated = JSON.parse(await readFile(join(local, 'secrets.json'), 'utf8')) as Record<string, string>;
  const keys = (await readdir(join(local, 'keys'))).filter((name) => name !== 'jwks.json');
  const privateParts = keys.map(async (name) => {
    const { d } = JSON.parse(await readFile(join(local, 'keys', name), 'utf8')) as { d?: string };
    return d ?? '';
  });
  const urls = [postgres.url, ...Object.values(services).map(({ databaseUrl }) => databaseUrl)];
  const secrets = [
    ...Object.values(generated),
    ...(await Promise.all(privateParts)),
    ...urls.map((url) => new URL(url).password),
    demo.adminToken,
    demo.approverToken,
    demo.consignmentsToken,
    demo.store.webhookToken,
    demo.wallet.hmacSecret,
    demo.verifyApiKey,
    demo.verifyApiKeyNoScope,
    demo.verifyPartnerKey,
  ];
  return [...new Set(secrets.filter(Boolean))];
};

/** The texts of a stack's logs, by path. */
export const readLogs = async (local: string): Promise<Record<string, string>> => {
  const entries = await readdir(local, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(local, join(parentPath, name)))
    .filter((path) => !SECRET_PATHS.some((secret) => path === secret || path.startsWith(`${secret}/`)));
  const texts = paths.map(async (path) => [path, await readFile(join(local, path), 'utf8')] as const);
  return Object.fromEntries(await Promise.all(texts));
};

/** One line for each log that contains a secret; the line does not show the secret. */
export const findLeaks = (logs: Record<string, string>, secrets: readonly string[]): string[] =>
  Object.entries(logs).flatMap(([name, text]) => {
    const index = secrets.findIndex((secret) => text.includes(secret));
    return index === -1 ? [] : [`${name} contains secret ${index} (${secrets[index]?.length} characters)`];
  });

export interface CrashReport {
  /** How often each program was killed. */
  crashes: Record<string, number>;
  results: Record<string, Result>;
  /** All errors and differences. */
  faults: string[];
  /** Names of the logs that were searched for secrets. */
  logs: string[];
}

const PAUSE_MS = 500;

/** Kills the programs in turn until the time `until` (ms since 1970), each at least once. */
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
 * Kills one program after the other for `minutes`, each at least once, while actors use the platform through the
 * gateway. Then every actor verifies what was acknowledged, and the logs are searched for secrets.
 */
export const runCrashTest = async (platform: Platform, minutes = 0): Promise<CrashReport> => {
  const { gateway, demo } = platform.access;
  await using casinoActor = casino(platform.gameServer, gateway, demo);
  const actors = [
    person(gateway),
    person(gateway),
    author(gateway, demo.adminToken),
    translator(gateway, demo.adminToken, demo.verifyApiKey),
    shipper(gateway, demo.adminToken),
    shop(platform.access),
    casinoActor,
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
