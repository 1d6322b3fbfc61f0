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
