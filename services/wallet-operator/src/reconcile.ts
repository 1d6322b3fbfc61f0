/**
 * `pnpm --filter wallet-operator reconcile FILE --token T --from … --to …`: sends a statement of the game server (CSV, or
 * JSON lines when the name ends in .jsonl), waits until it is compared, and prints the differences by kind.
 *
 * `--columns playerId:Player,…`, `--delimiter ';'` and `--tolerance 60` as in the API; `--out FILE` saves the differences
 * as CSV; `--dry-run` says what repairs would do; `--apply` makes a dry run and then applies them. `--url` is the gateway
 * of the stack that runs here unless it is given.
 * Exit code 1 when differences are left or the statement cannot be compared.
 */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { complain, say } from '@platform/wallet-protocol/terminal';
import type { z } from 'zod';
import { callersFile, localGateway } from './env.ts';
import type {
  Difference,
  DifferenceList,
  ReconciliationWithKinds,
  Repairs,
} from './reconciliation/schema.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string', default: localGateway() },
    token: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    columns: { type: 'string' },
    delimiter: { type: 'string' },
    tolerance: { type: 'string' },
    out: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    apply: { type: 'boolean', default: false },
  },
});
const { url, token, from, to, columns, delimiter, tolerance, out, apply } = values;
const [file] = positionals;
if (file === undefined || token === undefined || from === undefined || to === undefined)
  throw new Error('usage: reconcile FILE --token TOKEN --from TIME --to TIME [--apply]');

const mostRepeats = 100;

/** What a problem document says; a proxy in between may send anything else. */
const detailOf = (text: string): string => {
  try {
    return (JSON.parse(text) as { detail?: string }).detail ?? text;
  } catch {
    return text;
  }
};

/**
 * The answer of the service. Repeats a request that is refused because of overload or its deadline: repeating a repair
 * changes nothing. Only a statement cannot be sent again, because its file was read. Throws when the answer is a refusal.
 */
const ask = async (path: string, options: RequestInit = {}): Promise<Response> => {
  const headers = { ...options.headers, Authorization: `Bearer ${token}` };
  for (let left = options.body instanceof ReadableStream ? 0 : mostRepeats; ; left--) {
    const answer = await fetch(url + path, { ...options, headers });
    if (answer.ok) return answer;
    const text = await answer.text();
    if (answer.status !== 503 || left === 0) throw new Error(`${answer.status}: ${detailOf(text)}`);
    await sleep(Number(answer.headers.get('Retry-After') ?? 1) * 1000);
  }
};
const askJson = async <T>(path: string, options?: RequestInit): Promise<T> =>
  (await (await ask(path, options)).json()) as T;

const send = async (): Promise<string> => {
  const parameters = Object.entries({ from, to, columns, delimiter, tolerance }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  const { reconciliationId } = await askJson<{ reconciliationId: string }>(
    `/v1/reconciliations?${new URLSearchParams(parameters).toString()}`,
    {
      method: 'POST',
      headers: { 'Content-Type': file.endsWith('.jsonl') ? 'application/x-ndjson' : 'text/csv' },
      body: Readable.toWeb(createReadStream(callersFile(file))),
      duplex: 'half',
    },
  );
  return `/v1/reconciliations/${reconciliationId}`;
};

const waitFor = async (path: string): Promise<z.output<typeof ReconciliationWithKinds>> => {
  for (;;) {
    const reconciliation = await askJson<z.output<typeof ReconciliationWithKinds>>(path);
    if (reconciliation.status === 'failed')
      throw new Error(`the reconciliation failed: ${reconciliation.failure}`);
    if (reconciliation.status === 'done') return reconciliation;
    await sleep(500);
  }
};

const listDifferences = (path: string, query: string): Promise<z.output<typeof DifferenceList>> =>
  askJson(`${path}/differences?${query}`);

/** The numbers of all differences that can be repaired on our side. */
const numbersOf = async (path: string): Promise<number[]> => {
  const numbers: number[] = [];
  for (let page = 1; ; page++) {
    const list = await listDifferences(path, `limit=200&page=${page}`);
    for (const { number, repair } of list.differences) if (repair !== 'ask_game_server') numbers.push(number);
    if (!list.page.has_more) return numbers;
  }
};

const sideText = (side: z.output<typeof Difference>['here']): string =>
  side === null ? 'nothing' : [side.operation, side.amount, side.currency].filter(Boolean).join(' ');

/** How many differences are printed; a file has all of them. */
const mostShown = 10;

const showDifferences = async (path: string): Promise<void> => {
  const { differences, page } = await listDifferences(path, `limit=${mostShown}`);
  for (const { number, kind, transactionId, playerId, there, here } of differences) {
    const sides = `statement ${sideText(there)}, ledger ${sideText(here)}`;
    say(`${number}: ${kind}, transaction ${transactionId} of player ${playerId}: ${sides}`);
  }
  if (page.has_more) say('… --out FILE saves all differences');
};

/**
 * Repairs the differences, 100 in each request. A win whose bet is in a later request waits for it (`earlier_first`), so
 * these are repaired again as long as they become fewer. Returns how many of the differences are left.
 */
const repairAll = async (path: string, differences: number): Promise<number> => {
  const repair = async (differences: readonly number[], dryRun: boolean) =>
    askJson<z.output<typeof Repairs>>(`${path}/repairs`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ dryRun, differences }),
    });
  let numbers = await numbersOf(path);
  let left = differences - numbers.length;
  if (left > 0) say(`only the game server can correct: ${left}`);
  for (;;) {
    const waiting: number[] = [];
    for (let at = 0; at < numbers.length; at += 100) {
      const some = numbers.slice(at, at + 100);
      let { repairs } = await repair(some, true);
      if (apply) ({ repairs } = await repair(some, false));
      for (const { number, repair: proposed, state, status, reason } of repairs) {
        say(`${number}: ${proposed}, ${state}, ${status ?? '-'} ${reason ?? ''}`.trim());
        if (reason === 'earlier_first') waiting.push(number);
        else if (state !== 'applied') left += 1;
      }
    }
    if (!apply || waiting.length === 0 || waiting.length === numbers.length) return left + waiting.length;
    numbers = waiting;
  }
};

const main = async (): Promise<number> => {
  const path = await send();
  const { lines, fields, differences, kinds } = await waitFor(path);
  say(`${path}\nlines: ${lines}\ndifferences: ${differences}`);
  const unstated = fields.filter((one) => one.lines === 0).map(({ field }) => field);
  if (lines > 0 && unstated.length > 0)
    say(`not compared, because no line states it: ${unstated.join(', ')}`);
  for (const { kind, differences: count } of kinds) say(`${kind}: ${count}`);
  if (out === undefined) await showDifferences(path);
  const left = apply || values['dry-run'] ? await repairAll(path, differences) : differences;
  if (out !== undefined)
    await writeFile(callersFile(out), await (await ask(`${path}/differences.csv`)).text());
  return left === 0 ? 0 : 1;
};

process.exitCode = await main().catch((error: unknown) => {
  const cause = error instanceof TypeError ? error.cause : error;
  complain(cause instanceof Error ? cause.message : String(error));
  return 1;
});
