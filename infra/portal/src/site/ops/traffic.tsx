import { useSignal } from '@preact/signals';
import type { TargetedPointerEvent } from 'preact';
import { useMemo } from 'preact/hooks';
import { usePolling } from './content.tsx';
import { createReader, readiness, type ProcessSummary } from './health-data.ts';
import { stateBadge } from './parts.tsx';
import { Refused, useSession } from './session.ts';
import { duration, errorText, short } from './text.ts';
import { timeOfDay } from './time.ts';
import { combine, sourceOf } from './traffic-data.ts';

/** Size of the drawing in SVG units; it is stretched to the size of the element. */
const [width, height] = [360, 56];
const halfHour = 1800;

const amount = (value: number, unit: string): string =>
  unit === ' ms' && value >= 1000 ? `${short(value / 1000)} s` : `${short(value)}${unit}`;

/** Times in seconds since 1970, with a value for each. */
export type Points = [times: number[], values: (number | null)[]];

/** The x coordinate of a time. The scale covers the whole span, so that the charts of a page are aligned. */
const xOf = ([times]: Points, spanSeconds: number, time = 0): number =>
  width * (1 - ((times.at(-1) ?? 0) - time) / spanSeconds);

interface Scale {
  spanSeconds: number;
  /** Value at the upper end. */
  maximum: number;
}

const yOf = (value: number, { maximum }: Scale): string => (height * (1 - value / maximum)).toFixed(1);

/** SVG path of a line through the values; a value without neighbours becomes a dash. */
const linePath = (points: Points, scale: Scale): string => {
  const [times, values] = points;
  let path = '';
  for (const [index, time] of times.entries()) {
    const [previous = null, value = null, next = null] = [
      values[index - 1],
      values[index],
      values[index + 1],
    ];
    if (value === null) continue;
    const position = `${xOf(points, scale.spanSeconds, time).toFixed(1)} ${yOf(value, scale)}`;
    if (previous !== null) path += `L${position}`;
    else path += next === null ? `M${position}m-2 0h4` : `M${position}`;
  }
  return path;
};

/** SVG path with a bar for each value except 0. */
const barsPath = (points: Points, scale: Scale): string => {
  const [times, values] = points;
  let path = '';
  for (const [index, time] of times.entries()) {
    const value = values[index];
    if (value) path += `M${xOf(points, scale.spanSeconds, time).toFixed(1)} ${height}V${yOf(value, scale)}`;
  }
  return path;
};

interface ChartProps {
  name: string;
  /** Undefined before the first response. */
  points: Points | undefined;
  /** Text after the number. */
  unit: string;
  /** The minimum of the upper end of the scale, so that small values do not look large. */
  floor: number;
  /** Bars instead of a line, in which errors of a few seconds would be hard to see. */
  areBars?: boolean;
  /** Time span of the chart; default: half an hour. */
  spanSeconds?: number;
}

/** A small chart of the time until now, with its name and its latest value, or the value under the pointer. */
export const Chart = ({ name, points, unit, floor, areBars = false, spanSeconds = halfHour }: ChartProps) => {
  const pointed = useSignal<number>();
  const drawn: Points = points ?? [[], []];
  const [times, values] = drawn;
  const { value: index = -1 } = pointed;
  const point = ({ offsetX, currentTarget }: TargetedPointerEvent<SVGSVGElement>): void => {
    const x = (width * offsetX) / currentTarget.clientWidth;
    const distances = times.map((time) => Math.abs(xOf(drawn, spanSeconds, time) - x));
    pointed.value = distances.indexOf(Math.min(...distances));
  };
  const textOf = (value: number | null = null): string => (value === null ? '–' : amount(value, unit));
  const known = values.filter((value) => value !== null);
  const latest = textOf(values.at(-1));
  const top = known.length > 0 ? textOf(Math.max(...known)) : undefined;
  const maximumText = top === undefined ? 'no requests' : `at most ${top}`;
  const scale = { spanSeconds, maximum: Math.max(floor, 1.15 * Math.max(...known)) };
  return (
    <figure>
      <figcaption>
        <span>{name}</span>
        <span class="now">
          <strong>{textOf(values.at(index))}</strong>
          <span class="soft">{index >= 0 && ` ${timeOfDay(times[index] ?? 0)}`}</span>
        </span>
      </figcaption>
      <svg
        class={areBars ? 'chart bars' : 'chart'}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name} over the last ${duration(spanSeconds)}: ${points ? `now ${latest}, ${maximumText}` : 'no values yet'}`}
        onPointerMove={point}
        onPointerLeave={() => (pointed.value = undefined)}
      >
        <path d={areBars ? barsPath(drawn, scale) : linePath(drawn, scale)} />
        {index >= 0 && <path class="pointed" d={`M${xOf(drawn, spanSeconds, times[index])} 0V${height}`} />}
      </svg>
      {/* Hidden from screen readers, because the label of the chart contains it. */}
      <p class="scale" aria-hidden="true">
        <span>{duration(spanSeconds)} ago</span>
        <span>{top !== undefined && `peak ${top}`}</span>
      </p>
    </figure>
  );
};

const refreshMs = 10_000;

/** The values of a stopped process are shown until its last half hour has passed. */
const keepMs = 1_800_000;

const reasonOf = (error: unknown): string => (error instanceof Refused ? error.reason : errorText(error));

/** The error that all services have; undefined if one has no error or another one. */
const sharedError = (errors: readonly unknown[]): unknown =>
  errors.every((error) => error !== undefined && reasonOf(error) === reasonOf(errors[0]))
    ? errors[0]
    : undefined;

interface ServiceRow {
  name: string;
  title: string;
  /** Undefined before the first response. */
  summaries: ProcessSummary[] | undefined;
  error: unknown;
}

const Service = ({ name, title, summaries, error }: ServiceRow) => {
  const charts = useMemo((): Partial<Record<'requests' | 'errors' | 'p99', Points>> => {
    if (!summaries?.length) return {};
    const { times, requests, errors, p99 } = combine(summaries);
    return { requests: [times, requests], errors: [times, errors], p99: [times, p99] };
  }, [summaries]);
  const readinessState = readiness.value.find(({ service }) => service === name)?.state;
  return (
    <li class="service">
      <div class="service-head">
        <h2>{title}</h2>
        {readinessState
          ? stateBadge(readinessState.color, readinessState.text)
          : stateBadge('plain', 'Checking')}
        <p class={error === undefined ? 'soft instances' : 'soft instances error'}>
          {error === undefined ? sourceOf(summaries ?? []) : errorText(error)}
        </p>
      </div>
      <Chart name="Requests" unit="/s" floor={1} points={charts.requests} />
      <Chart name="Errors" unit=" %" floor={5} points={charts.errors} areBars />
      <Chart name="p99" unit=" ms" floor={10} points={charts.p99} />
    </li>
  );
};

/** Whether the gateway answered 404, because the service is not deployed. */
export const isMissing = (error: unknown): boolean => error instanceof Refused && error.status === 404;

/** Request rate, errors and p99 of each deployed service. */
export const View = () => {
  const session = useSession();
  const readers = useMemo(() => SERVICES.map(({ name }) => createReader(session, name, keepMs)), [session]);
  const responses = useSignal<readonly (ProcessSummary[] | undefined)[]>(SERVICES.map(() => undefined));
  const errors = useSignal<readonly unknown[]>([]);
  usePolling(async () => {
    errors.value = await Promise.all(
      readers.map(async (read, index) => {
        const { summaries, error } = await read();
        // Shown at once, so that a slow service does not delay the others.
        responses.value = responses.value.with(index, summaries);
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
        {SERVICES.map(({ name, title }, index) =>
          isMissing(errors.value[index]) ? undefined : (
            <Service
              key={name}
              name={name}
              title={title}
              summaries={responses.value[index]}
              error={shared === undefined ? errors.value[index] : undefined}
            />
          ),
        )}
      </ul>
    </>
  );
};
