/** What a debit costs, alone and in company, with an empty and a full ledger; and how long a proof takes. */
import { repeat, type Figure, type Topic } from '../figure.ts';
import { baseline, prepareBaseline } from '../wallet-operator/baseline.ts';
import { judgeCalls } from '../wallet-operator/judging.ts';
import { reconcileBeside } from '../wallet-operator/reconciling.ts';
import { verifySealed } from '../wallet-operator/sealing.ts';
import { fillLedger } from '../wallet-operator/filling.ts';
import {
  debitFor,
  limitPlayers,
  openWallet,
  players,
  prove,
  type Wallet,
} from '../wallet-operator/wallet.ts';

/** Of each piece; baseline and service take turns, so that a slow minute of the machine is slow for both. */
const seconds = 3;
const pieces = 2;
const runs = 3;
const million = 1_000_000;

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

interface Run {
  base: number;
  perSecond: number;
}

const against = async (wallet: Wallet, over: number): Promise<Run & { p99: number }> => {
  const { databaseUrl } = wallet.service;
  await prepareBaseline(databaseUrl);
  const turns = await repeat(pieces, async () => {
    const base = await baseline(databaseUrl, over, seconds);
    return { base, ...(await debitFor(wallet, seconds, over)) };
  });
  return {
    base: mean(turns.map(({ base }) => base)),
    perSecond: mean(turns.map(({ perSecond }) => perSecond)),
    p99: mean(turns.map(({ p99 }) => p99)),
  };
};

/** Debits a second of two wallets that take turns, so that a slow minute of the machine is slow for both. */
const inTurns = (ours: Wallet, other: Wallet, times: number, each = seconds): Promise<Run[]> =>
  repeat(times, async () => {
    const turns = await repeat(pieces, async () => ({
      perSecond: (await debitFor(ours, each)).perSecond,
      base: (await debitFor(other, each)).perSecond,
    }));
    return { base: mean(turns.map(({ base }) => base)), perSecond: mean(turns.map((one) => one.perSecond)) };
  });

const ratioOf = ({ base, perSecond }: Run): number => perSecond / base;
const shown = (values: readonly number[]): string => values.map((value) => value.toFixed(0)).join(', ');
const speeds = (measured: readonly Run[]): string =>
  `${shown(measured.map(({ perSecond }) => perSecond))}/s against ${shown(measured.map(({ base }) => base))}/s`;
const againstPgbench = (measured: readonly Run[]): string =>
  `${speeds(measured)} (pgbench, 16 connections, the same tables)`;

const throughput = async (wallet: Wallet): Promise<Figure[]> => {
  const measured = await repeat(runs, () => against(wallet, players));
  return [
    {
      what: 'debits, 64 connections, 200 players, against one transaction each',
      bound: '≥ 1.0 ×',
      samples: measured.map(ratioOf),
      unit: '×',
      holds: (value) => value >= 1,
      note: `${againstPgbench(measured)}; after each run answers, entries and money agreed exactly`,
    },
    {
      what: 'p99 at 64 connections',
      bound: '≤ 40 ms',
      samples: measured.map(({ p99 }) => p99),
      unit: 'ms',
      holds: (value) => value <= 40,
    },
  ];
};

const onePlayer = async (wallet: Wallet): Promise<Figure[]> => {
  const measured = await repeat(runs, () => against(wallet, 1));
  return [
    {
      what: 'the same, all on one player, against one row',
      bound: '≥ 4 ×',
      samples: measured.map(ratioOf),
      unit: '×',
      holds: (value) => value >= 4,
      note: againstPgbench(measured),
    },
  ];
};

const lone = async (wallet: Wallet): Promise<Figure[]> => {
  const measured = await repeat(runs, () => debitFor(wallet, seconds, players, 1));
  return [
    {
      what: 'p50 of a lone request',
      bound: '≤ 3 ms',
      samples: measured.map(({ p50 }) => p50),
      unit: 'ms',
      holds: (value) => value <= 3,
    },
  ];
};

const proof = async (wallet: Wallet): Promise<Figure[]> => {
  await fillLedger(wallet.sql, million);
  const samples = await repeat(runs, () => prove(wallet));
  const [meanwhile, busy] = await Promise.all([debitFor(wallet, 5), prove(wallet)]);
  return [
    {
      what: 'proof over 1,000,000 entries',
      bound: '≤ 5 s',
      samples,
      unit: 's',
      holds: (value) => value <= 5,
      note: `${busy.toFixed(1)} s beside ${meanwhile.perSecond.toFixed(0)} callbacks a second (p99 ${meanwhile.p99.toFixed(0)} ms)`,
    },
  ];
};

const large = async (full: Wallet): Promise<Figure[]> => {
  await fillLedger(full.sql, 5 * million);
  await using empty = await openWallet();
  const warm = [await debitFor(empty, 2 * seconds), await debitFor(full, 2 * seconds)];
  const measured = await inTurns(full, empty, runs);
  const proven = await prove(full);
  return [
    {
      what: 'a debit with 5,000,000 entries in the ledger, against an empty one',
      bound: '≤ 1.2 ×',
      samples: measured.map(({ base, perSecond }) => base / perSecond),
      unit: '×',
      holds: (value) => value <= 1.2,
      note: `${speeds(measured)}, after ${shown(warm.map(({ sent }) => sent))} to warm up; proven afterwards in ${proven.toFixed(1)} s`,
    },
  ];
};

const judging = async (): Promise<Figure[]> => [
  {
    what: 'wallet-conformance check: 1,000,000 recorded calls',
    bound: '≤ 10 s',
    samples: await judgeCalls(million, runs),
    unit: 's',
    holds: (value) => value <= 10,
  },
];

const sealing = async (): Promise<Figure[]> => {
  await using sealed = await openWallet();
  await using open = await openWallet({ sealing: false });
  for (const wallet of [sealed, open]) await debitFor(wallet, 2 * seconds);
  const measured = await inTurns(sealed, open, runs);
  await fillLedger(sealed.sql, million);
  await debitFor(sealed, 1);
  return [
    {
      what: 'debits while entries are sealed, against without a key',
      bound: '≥ 0.97 ×',
      samples: measured.map(ratioOf),
      unit: '×',
      holds: (value) => value >= 0.97,
      note: speeds(measured),
    },
    {
      what: 'verify-seals: a ledger of 1,000,000 entries and its checkpoints',
      bound: '≤ 10 s',
      samples: await verifySealed(sealed, runs),
      unit: 's',
      holds: (value) => value <= 10,
    },
  ];
};

const limitRuns = 5;

const limits = async (each = seconds): Promise<Figure[]> => {
  await using limited = await openWallet();
  await using free = await openWallet();
  await limitPlayers(limited);
  for (const wallet of [limited, free]) await debitFor(wallet, 2 * each);
  const measured = await inTurns(limited, free, limitRuns, each);
  await prove(limited);
  return [
    {
      what: 'debits of players with limits on bets, losses and time, against without',
      bound: '≥ 0.95 ×',
      samples: measured.map(ratioOf),
      unit: '×',
      holds: (value) => value >= 0.95,
      note: `${speeds(measured)}; afterwards the counters were proven`,
    },
  ];
};

const reconciliation = async (wallet: Wallet): Promise<Figure[]> => {
  const measured = await reconcileBeside(wallet, million, runs);
  return [
    {
      what: 'a statement of 1,000,000 lines, sent and compared, beside 1,000 callbacks a second',
      bound: '≤ 60 s',
      samples: measured.map(({ seconds: taken }) => taken),
      unit: 's',
      holds: (value) => value <= 60,
    },
    {
      what: 'p99 of these callbacks, against without a statement',
      bound: '≤ 2 ×',
      samples: measured.map(({ alone, beside }) => beside / alone),
      unit: '×',
      holds: (value) => value <= 2,
      note: `${shown(measured.map(({ beside }) => beside))} ms against ${shown(measured.map(({ alone }) => alone))} ms`,
    },
  ];
};

/** Measures some parts on one wallet, which the first seconds of callbacks make warm. */
const on =
  (...parts: ((wallet: Wallet) => Promise<Figure[]>)[]) =>
  async (): Promise<Figure[]> => {
    await using wallet = await openWallet();
    await debitFor(wallet, 3 * seconds);
    const figures: Figure[] = [];
    for (const part of parts) figures.push(...(await part(wallet)));
    return figures;
  };

export const topic: Topic = {
  title: 'Wallet operator',
  measure: on(throughput, onePlayer, lone, proof, large, judging, sealing, reconciliation, () => limits()),
  parts: {
    throughput: on(throughput),
    'one-player': on(onePlayer),
    lone: on(lone),
    proof: on(proof),
    large: on(large),
    judge: judging,
    sealing,
    reconciliation: on(reconciliation),
    limits: (options) => limits(options.seconds),
  },
};
