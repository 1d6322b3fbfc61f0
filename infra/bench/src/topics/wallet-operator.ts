import postgres, { type Sql } from 'postgres';
import { percentile, repeat, type Figure, type Topic } from '../figure.ts';
import { startGround, startService, type BenchService } from '../service.ts';
import { baseline, hasPgbench, prepareBaseline } from '../wallet/baseline.ts';
import { debits, secret } from '../wallet/debits.ts';
import { addPlayers, fillLedger } from '../wallet/filling.ts';
import { fire } from '../wallet/fire.ts';

const seconds = 5;
const count = 20_000;
const connections = 64;

interface Run {
  base: number;
  perSecond: number;
  p99: number;
}

interface AnsweredDebit {
  status: string;
}

/** Baseline and service one after the other, on the same tables' server, in the same minute. */
const compare = async ({ url, databaseUrl }: BenchService, players: number): Promise<Run> => {
  await prepareBaseline(databaseUrl);
  const base = await baseline(databaseUrl, players, seconds);
  const { perSecond, latencies } = await fire(url, debits(count, players), connections);
  return { base, perSecond, p99: percentile(latencies, 0.99) };
};

/** Accepted debits, entries written and money gone, each of which must be the same number. */
const account = async ({ url }: BenchService, sql: Sql): Promise<boolean> => {
  const state = () => sql<{ entries: string; money: string }[]>`
    select (select count(*) from entries) as entries, (select sum(balance) from players) as money`;
  const [before] = await state();
  const { answers } = await fire(url, debits(count, 200), connections);
  const accepted = answers.filter((text) => (JSON.parse(text) as AnsweredDebit).status === 'OK').length;
  const [after] = await state();
  const written = Number(after?.entries) - Number(before?.entries);
  const gone = BigInt(before?.money ?? 0) - BigInt(after?.money ?? 0);
  return accepted === written && gone === BigInt(accepted);
};

const prove = async ({ url, keys }: BenchService): Promise<number> => {
  const token = await keys.token({ scope: 'wallet:admin' });
  const start = performance.now();
  const answer = await fetch(`${url}/v1/audit/proof`, { headers: { Authorization: `Bearer ${token}` } });
  const { ok } = (await answer.json()) as { ok: boolean };
  if (!ok) throw new Error('the ledger does not prove itself');
  return (performance.now() - start) / 1000;
};

const ratioOf = ({ base, perSecond }: Run): number => perSecond / base;

const measure = async (): Promise<Figure[]> => {
  await using ground = await startGround();
  await using service = await startService('wallet-operator', ground, {
    HMAC_SECRET: secret,
    SIGNATURE_TOLERANCE_S: '3600',
  });
  const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
  await addPlayers(sql);
  await fire(service.url, debits(5000, 200), connections);

  const lone = await repeat(3, async () =>
    percentile((await fire(service.url, debits(500, 200), 1)).latencies, 0.5),
  );
  const many = await repeat(3, () => compare(service, 200));
  const one = await repeat(3, () => compare(service, 1));
  const exact = await repeat(3, () => account(service, sql));

  await fillLedger(sql, 1_000_000);
  const proofs = await repeat(3, () => prove(service));
  const [meanwhile] = await Promise.all([fire(service.url, debits(5000, 200), connections), prove(service)]);

  await fillLedger(sql, 5_000_000);
  await fire(service.url, debits(5000, 200), connections);
  const full = await repeat(3, () => compare(service, 200));
  await prove(service);
  await sql.end();

  const by = hasPgbench ? 'pgbench' : 'postgres.js';
  const shown = (runs: Run[], key: keyof Run) => runs.map((run) => run[key].toFixed(0)).join(', ');
  const speeds = (runs: Run[]) => `${shown(runs, 'perSecond')}/s against ${shown(runs, 'base')}/s (${by})`;
  const empty = many.map(ratioOf).toSorted((a, b) => a - b)[1] ?? Number.NaN;
  return [
    {
      what: 'debits, 64 connections, 200 players, against one transaction each',
      bound: '≥ 1.0 ×',
      samples: many.map(ratioOf),
      unit: '×',
      holds: (value) => value >= 1,
      note: speeds(many),
    },
    {
      what: 'the same, all on one player, against one row',
      bound: '≥ 4 ×',
      samples: one.map(ratioOf),
      unit: '×',
      holds: (value) => value >= 4,
      note: speeds(one),
    },
    {
      what: 'p99 at 64 connections',
      bound: '≤ 40 ms',
      samples: many.map(({ p99 }) => p99),
      unit: 'ms',
      holds: (value) => value <= 40,
    },
    {
      what: 'p50 of a lone request',
      bound: '≤ 3 ms',
      samples: lone,
      unit: 'ms',
      holds: (value) => value <= 3,
    },
    {
      what: 'runs in which answers, entries and money agree, of 3',
      bound: '= 3',
      samples: [exact.filter(Boolean).length],
      unit: '×',
      holds: (value) => value === 3,
    },
    {
      what: 'a debit with 5,000,000 entries in the ledger, against an empty one',
      bound: '≤ 1.2 ×',
      samples: full.map((run) => empty / ratioOf(run)),
      unit: '×',
      holds: (value) => value <= 1.2,
      note: `each in units of the baseline beside it; ${speeds(full)}`,
    },
    {
      what: 'proof over 1,000,000 entries',
      bound: '≤ 5 s',
      samples: proofs,
      unit: 's',
      holds: (value) => value <= 5,
      note: `callbacks meanwhile: ${meanwhile.perSecond.toFixed(0)}/s`,
    },
  ];
};

export const topic: Topic = { title: 'Wallet operator', measure };
