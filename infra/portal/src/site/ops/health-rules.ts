import type { AlertRule } from '../../alert-rules.ts';

/** Values of one series over time. */
export interface Series {
  service: string;
  /** The process, when there are several. */
  instance: string;
  /** Labels in Prometheus notation, such as `{list="tasks"}`; may be empty. */
  labels: string;
  /** In ms since 1970, ascending. */
  times: readonly number[];
  values: readonly (number | null)[];
}

/** A rule whose condition holds now. */
export interface Finding {
  rule: AlertRule;
  series: Series;
  value: number;
  /** In ms since 1970. */
  since: number;
  /** Whether it may have begun before `since`, because older values are unknown. */
  isOlder: boolean;
  /** Whether it has held as long as the rule demands. */
  isFiring: boolean;
}

/** Findings that are shown as one entry: those of one alert in several services. */
export interface FindingGroup {
  /** The most urgent one first. */
  findings: [Finding, ...Finding[]];
  /** Findings of other alerts that have the same cause. */
  consequences: Finding[];
}

/** Samples older than this are forgotten; services keep theirs as long. */
const historyMs = 7_200_000;

/**
 * A series with the samples of earlier readings. The last sample of each reading is taken for it alone, so the next
 * reading does not contain it; without it the begin of an alert would move.
 */
export const addEarlier = (now: Series, before: Series): Series => {
  const points = new Map<number, number | null>();
  for (const { times, values } of [before, now])
    for (const [index, time] of times.entries()) points.set(time, values[index] ?? null);
  const oldest = (now.times.at(-1) ?? 0) - historyMs;
  const kept = [...points].filter(([time]) => time >= oldest).toSorted(([a], [b]) => a - b);
  return { ...now, times: kept.map(([time]) => time), values: kept.map(([, value]) => value) };
};

const holds = ({ comparison, threshold }: AlertRule, value: number | null | undefined): boolean => {
  if (value === null || value === undefined) return false;
  if (comparison === '>') return value > threshold;
  return comparison === '<' ? value < threshold : value === threshold;
};

/** Evaluates a rule at the last value of a series; undefined when its condition does not hold. */
export const evaluate = (rule: AlertRule, series: Series): Finding | undefined => {
  const { times, values } = series;
  const value = values.at(-1);
  if (!holds(rule, value)) return undefined;
  const before = values.findLastIndex((one) => !holds(rule, one));
  const since = times[before + 1] ?? 0;
  const held = (times.at(-1) ?? 0) - since;
  return {
    rule,
    series,
    value: value ?? 0,
    since,
    isOlder: before === -1,
    isFiring: held >= rule.forSeconds * 1000,
  };
};

/** The most urgent finding of each rule and service, those that fire first. */
export const findingsOf = (
  rules: readonly AlertRule[],
  all: ReadonlyMap<string, readonly Series[]>,
): Finding[] => {
  const found = rules.flatMap((rule) =>
    (all.get(rule.metric) ?? []).flatMap((series) => evaluate(rule, series) ?? []),
  );
  const byAlert = Map.groupBy(
    found,
    ({ rule, series }) => `${rule.alert} ${series.service} ${series.labels}`,
  );
  const urgency = ({ isFiring, rule }: Finding): number =>
    (isFiring ? 2 : 0) + (rule.severity === 'page' ? 1 : 0);
  return [...byAlert.values()]
    .flatMap((same) => same.toSorted((a, b) => urgency(b) - urgency(a) || a.since - b.since).slice(0, 1))
    .toSorted((a, b) => urgency(b) - urgency(a) || a.since - b.since);
};

/**
 * Alerts that a service raises because its database is unavailable. SpoolHoldsEvents is not one of them: it says where
 * acknowledged events are until then.
 */
export const databaseConsequences: readonly string[] = [
  'ErrorRateHigh',
  'ResponsesSlow',
  'OldestEventWaits',
  'MailsWait',
  'CallbacksWait',
  'EntriesNotSealed',
  'SummaryOverdue',
  'ReconciliationsFailing',
];

/** Groups findings by alert, in their order. What follows from an unavailable database is part of its group. */
export const groupFindings = (findings: readonly Finding[]): FindingGroup[] => {
  const isOutage = ({ rule }: Finding): boolean => rule.alert === 'DatabaseUnavailable';
  const away = new Set(findings.filter(isOutage).map(({ series }) => series.service));
  const isConsequence = ({ rule, series }: Finding): boolean =>
    away.has(series.service) && databaseConsequences.includes(rule.alert);
  const groups = Map.groupBy(
    findings.filter((finding) => !isConsequence(finding)),
    ({ rule, series }) => `${rule.alert} ${series.labels}`,
  );
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [
          {
            findings: [first, ...others],
            consequences: isOutage(first) ? findings.filter(isConsequence) : [],
          },
        ],
  );
};
