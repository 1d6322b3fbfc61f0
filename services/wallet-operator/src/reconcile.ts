/**
 * `pnpm --filter wallet-operator reconcile FILE --token T --from … --to …`: sends a statement of the game server (CSV, or
 * JSON lines when the name ends in .jsonl), waits until it is compared, and prints the differences by kind.
 *
 * `--columns playerId:Player,…`, `--delimiter ';'` and `--tolerance 60` as in the API; `--out FILE` saves the differences
 * as CSV; `--dry-run` says what repairs would do, and prints the path of the dry run. With that path instead of FILE the
 * program prints the dry run again; `--approve` approves it, `--apply` applies it (`--max-amount 100.00`: at most so much).
 * `--url` is the gateway of the stack that runs here unless it is given.
 * Exit code 1 when differences are left or the statement cannot be compared.
 */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { complain, say } from '@platform/wallet-protocol/terminal';
import type { z } from 'zod';
import type { RepairResult } from './db/reconciliations.ts';
import { callersFile, localGateway } from './env.ts';
import {
  maxRepairs,
  type Difference,
  type DifferenceList,
  type DryRun,
  type ReconciliationWithKinds,
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
    'dry-run': { type: 'boolean' },
    approve: { type: 'boolean' },
    apply: { type: 'boolean' },
    'max-amount': { type: 'string' },
  },
});
const { url, token, from, to, columns, delimiter, tolerance, out, approve, apply } = values;
const statementOptions = ['from', 'to', 'columns', 'delimiter', 'tolerance', 'out', 'dry-run'];
const [file] = positionals;
const [, reconciliation = '', dryRunId] =
  /^(\/v1\/reconciliations\/[^/]+)\/dry-runs\/([^/]+)$/.exec(file ?? '') ?? [];
const dryRunOptions = apply ? ['apply', 'max-amount'] : ['approve'];
const usable = ['url', 'token', ...(dryRunId === undefined ? statementOptions : dryRunOptions)];
if (
  file === undefined ||
  Object.keys(values).some((option) => !usable.includes(option)) ||
  token === undefined ||
  (dryRunId === undefined && (from === undefined || to === undefined))
)
  throw new Error(
    'usage: reconcile FILE --token TOKEN --from TIME --to TIME [--columns …] [--delimiter …] [--tolerance …] [--out FILE] [--dry-run], ' +
      'or reconcile DRY_RUN --token TOKEN [--approve | --apply [--max-amount …]] with the path that --dry-run prints',
  );

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

const post = <T>(path: string, body: object): Promise<T> =>
  askJson(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

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

type DifferenceView = z.output<typeof Difference>;

const listDifferences = (path: string, query: string): Promise<z.output<typeof DifferenceList>> =>
  askJson(`${path}/differences?${query}`);

/** All differences that can be repaired on our side, in the order of their times. */
const repairable = async (path: string): Promise<DifferenceView[]> => {
  const found: DifferenceView[] = [];
  for (let page = 1; ; page++) {
    const list = await listDifferences(path, `limit=200&page=${page}`);
    found.push(...list.differences.filter(({ repair }) => repair !== 'ask_game_server'));
    if (!list.page.has_more)
      return found.toSorted(
        (a, b) => Date.parse(a.there?.time ?? '1970-01-01') - Date.parse(b.there?.time ?? '1970-01-01'),
      );
  }
};

const sideText = (side: DifferenceView['here']): string =>
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

/** Prints results; returns how many of the differences are left. */
const showRepairs = (repairs: readonly RepairResult[]): number => {
  for (const { number, repair, state, status, reason } of repairs)
    say(`${number}: ${repair}, ${state}, ${status ?? '-'} ${reason ?? ''}`.trim());
  return repairs.filter(({ state }) => state !== 'applied').length;
};

const showDryRun = (path: string, run: z.output<typeof DryRun>): void => {
  showRepairs(run.repairs);
  for (const { kind, currency, repairs, amount } of run.sums)
    say(`${kind}: ${repairs} repairs move ${amount} ${currency}`);
  if (run.approvedBy !== null) say(`approved by ${run.approvedBy}`);
  say(`dry run: ${path}/dry-runs/${run.dryRunId}`);
};

/**
 * Makes a dry run of the first repairs that are possible. Those that the ledger would refuse give way to the next ones
 * while they are more than half of it.
 */
const tryRepairs = async (path: string, differences: number): Promise<void> => {
  const all = await repairable(path);
  if (all.length < differences) say(`only the game server can correct: ${differences - all.length}`);
  const left = all.map(({ number }) => number);
  let numbers = left.splice(0, maxRepairs);
  let leftOut = 0;
  while (numbers.length > 0) {
    const run = await post<z.output<typeof DryRun>>(`${path}/dry-runs`, { differences: numbers });
    const possible = run.repairs.filter(({ status, state }) => status === 'OK' && state !== 'applied');
    if (left.length === 0 || possible.length > maxRepairs / 2) {
      showDryRun(path, run);
      break;
    }
    leftOut += numbers.length - possible.length;
    numbers = possible.map(({ number }) => number);
    numbers.push(...left.splice(0, maxRepairs - numbers.length));
  }
  if (leftOut > 0) say(`left out, because they would be refused or wait: ${leftOut}`);
  if (left.length > 0) say(`not tried yet: ${left.length}; make another dry run when this one is applied`);
};

const compare = async (): Promise<number> => {
  const path = await send();
  const { lines, fields, differences, kinds } = await waitFor(path);
  say(`${path}\nlines: ${lines}\ndifferences: ${differences}`);
  const unstated = fields.filter((one) => one.lines === 0).map(({ field }) => field);
  if (unstated.length > 0) say(`not compared, because no line states it: ${unstated.join(', ')}`);
  for (const { kind, differences: count } of kinds) say(`${kind}: ${count}`);
  if (out === undefined) await showDifferences(path);
  else await writeFile(callersFile(out), await (await ask(`${path}/differences.csv`)).text());
  if (values['dry-run']) {
    await tryRepairs(path, differences);
    return 0;
  }
  return differences === 0 ? 0 : 1;
};

const applyRepairs = async (): Promise<number> => {
  const body = { dryRunId, maxAmount: values['max-amount'] };
  const { repairs } = await post<{ repairs: RepairResult[] }>(`${reconciliation}/repairs`, body);
  return showRepairs(repairs) === 0 ? 0 : 1;
};

const main = async (): Promise<number> => {
  if (dryRunId === undefined) return compare();
  if (apply) return applyRepairs();
  const path = approve ? `${file}/approval` : file;
  showDryRun(reconciliation, await askJson(path, { method: approve ? 'POST' : 'GET' }));
  return 0;
};

process.exitCode = await main().catch((error: unknown) => {
  const cause = error instanceof TypeError ? error.cause : error;
  complain(cause instanceof Error ? cause.message : String(error));
  return 1;
});
