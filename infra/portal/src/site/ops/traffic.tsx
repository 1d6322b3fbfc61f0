import { useSignal } from '@preact/signals';
import type { TargetedPointerEvent } from 'preact';
import { useMemo } from 'preact/hooks';
import { usePolling } from './content.tsx';
import { createReader, readiness, type ProcessSummary } from './health-data.ts';
import { state } from './parts.tsx';
import { Refused, useSession } from './session.ts';
import { duration, errorText, short } from './text.ts';
import { timeOfDay } from './time.ts';
import { combine, sourceOf } from './traffic-data.ts';

/** The size of the drawing in units of its own; it is stretched to that of its place. */
const [width, height] = [360, 56];
const halfHour = 1800;

const amount = (value: number, unit: string): string =>
  unit === ' ms' && value >= 1000 ? `${short(value / 1000)} s` : `${short(value)}${unit}`;

/** Times in seconds since 1970, and a value for each. */
export type Points = [times: number[], values: (number | null)[]];

/** Where a time is. Always the whole span, so that the charts of a page are aligned. */
const xOf = ([times]: Points, spanSeconds: number, time = 0): number =>
  width * (1 - ((times.at(-1) ?? 0) - time) / spanSeconds);

/** A line through the values, which is a point where one has no neighbour; or a bar for each value but 0. */
const pathOf = (points: Points, spanSeconds: number, most: number, areBars: boolean): string => {
  const [times, values] = points;
  return times
    .map((time, at) => {
      const value = values[at] ?? null;
      if (value === null || (areBars && value === 0)) return '';
      const [x, y] = [xOf(points, spanSeconds, time).toFixed(1), (height * (1 - value / most)).toFixed(1)];
      if (areBars) return `M${x} ${height}V${y}`;
      return (values[at - 1] ?? null) === null ? `M${x} ${y}h0` : `L${x} ${y}`;
    })
    .join('');
};

interface Look {
  name: string;
  /** Undefined before there are any. */
  points: Points | undefined;
  /** Follows the number. */
  unit: string;
  /** The minimum of the upper end of the scale, so that small values do not look large. */
  floor: number;
  /** Bars: an error of a few seconds would hardly be seen in a line. */
  areBars?: boolean;
  /** The time that the chart is of; half an hour if absent. */
  spanSeconds?: number;
}

/** A small chart of the time until now, with its name and its latest value, or the value under the pointer. */
export const Chart = ({ name, points, unit, floor, areBars = false, spanSeconds = halfHour }: Look) => {
  const pointed = useSignal<number>();
  const drawn: Points = points ?? [[], []];
  const [times, values] = drawn;
  const { value: at = -1 } = pointed;
  const point = ({ offsetX, currentTarget }: TargetedPointerEvent<SVGSVGElement>): void => {
    const x = (width * offsetX) / currentTarget.clientWidth;
    const distances = times.map((time) => Math.abs(xOf(drawn, spanSeconds, time) - x));
    pointed.value = distances.indexOf(Math.min(...distances));
  };
  const textOf = (value: number | null = null): string => (value === null ? '–' : amount(value, unit));
  const known = values.filter((value) => value !== null);
  const latest = textOf(values.at(-1));
  const top = known.length > 0 ? textOf(Math.max(...known)) : undefined;
  const most = top === undefined ? 'no requests' : `at most ${top}`;
  return (
    <figure>
      <figcaption>
        <span>{name}</span>
        <span class="now">
          <strong>{textOf(values.at(at))}</strong>
          <span class="soft">{at >= 0 && ` ${timeOfDay(times[at] ?? 0)}`}</span>
        </span>
      </figcaption>
      <svg
        class={areBars ? 'chart bars' : 'chart'}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name} over the last ${duration(spanSeconds)}: ${points ? `now ${latest}, ${most}` : 'no values yet'}`}
        onPointerMove={point}
        onPointerLeave={() => (pointed.value = undefined)}
      >
        <path d={pathOf(drawn, spanSeconds, Math.max(floor, 1.15 * Math.max(...known)), areBars)} />
        {at >= 0 && <path class="pointed" d={`M${xOf(drawn, spanSeconds, times[at])} 0V${height}`} />}
      </svg>
      {/* The label of the chart says the same. */}
      <p class="scale" aria-hidden="true">
        <span>{duration(spanSeconds)} ago</span>
        <span>{top !== undefined && `peak ${top}`}</span>
      </p>
    </figure>
  );
};

const refreshMs = 10_000;

/** A process that has ended is shown with its last half hour, too. */
const keepMs = 1_800_000;

const reasonOf = (error: unknown): string => (error instanceof Refused ? error.reason : errorText(error));

/** An error that all services have in common; undefined when they have none, or others. */
const sharedError = (errors: readonly unknown[]): unknown =>
  errors.every((error) => error !== undefined && reasonOf(error) === reasonOf(errors[0]))
    ? errors[0]
    : undefined;

interface ServiceRow {
  name: string;
  title: string;
  /** Undefined before it was asked. */
  statements: ProcessSummary[] | undefined;
  error: unknown;
}

const Service = ({ name, title, statements, error }: ServiceRow) => {
  const charts = useMemo((): Partial<Record<'requests' | 'errors' | 'p99', Points>> => {
    if (!statements?.length) return {};
    const { times, requests, errors, p99 } = combine(statements);
    return { requests: [times, requests], errors: [times, errors], p99: [times, p99] };
  }, [statements]);
  const now = readiness.value.find(({ service }) => service === name)?.state;
  return (
    <li class="service">
      <div class="service-head">
        <h2>{title}</h2>
        {now ? state(now.look, now.text) : state('plain', 'Checking')}
        <p class={error === undefined ? 'soft instances' : 'soft instances error'}>
          {error === undefined ? sourceOf(statements ?? []) : errorText(error)}
        </p>
      </div>
      <Chart name="Requests" unit="/s" floor={1} points={charts.requests} />
      <Chart name="Errors" unit=" %" floor={5} points={charts.errors} areBars />
      <Chart name="p99" unit=" ms" floor={10} points={charts.p99} />
    </li>
  );
};

/** Whether the gateway says that there is no such service: it is not deployed. */
export const isMissing = (error: unknown): boolean => error instanceof Refused && error.status === 404;

/** Request rate, errors and p99 of each deployed service. */
export const View = () => {
  const session = useSession();
  const readers = useMemo(() => SERVICES.map(({ name }) => createReader(session, name, keepMs)), [session]);
  const answers = useSignal<readonly (ProcessSummary[] | undefined)[]>(SERVICES.map(() => undefined));
  const errors = useSignal<readonly unknown[]>([]);
  usePolling(async () => {
    errors.value = await Promise.all(
      readers.map(async (read, at) => {
        const { summaries, error } = await read();
        // A service that answers late does not hold up the others.
        answers.value = answers.value.with(at, summaries);
        return error;
      }),
    );
  }, refreshMs);
  const shared = sharedError(errors.value);
  return (
    <>
      <p class="soft">
        The last half hour, measured by the services (or Prometheus, where they know one), refreshed every ten
        seconds. p99: 99 of 100 requests were answered within this time.
      </p>
      <div role="alert">{shared !== undefined && <p class="error note">{errorText(shared)}</p>}</div>
      <ul class="services">
        {SERVICES.map(({ name, title }, at) =>
          isMissing(errors.value[at]) ? undefined : (
            <Service
              key={name}
              name={name}
              title={title}
              statements={answers.value[at]}
              error={shared === undefined ? errors.value[at] : undefined}
            />
          ),
        )}
      </ul>
    </>
  );
};
