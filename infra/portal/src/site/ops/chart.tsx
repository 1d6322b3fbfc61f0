import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { short } from './text.ts';
import { timeOfDay } from './time.ts';
import { isolated, withoutRest } from './traffic-data.ts';

const height = 56;
const spanSeconds = 1800;
const dark = matchMedia('(prefers-color-scheme: dark)');
const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const amount = (value: number, unit: string): string =>
  unit === ' ms' && value >= 1000 ? `${short(value / 1000)} s` : `${short(value)}${unit}`;

/** Times in seconds since 1970, and a value for each. */
export type Points = [times: number[], values: (number | null)[]];

interface Look {
  /** Follows the number. */
  unit: string;
  /** The minimum of the upper end of the scale, so that small values do not look large. */
  floor: number;
  line: '--accent' | '--bad';
}

const optionsOf = (
  { floor, line }: Look,
  width: number,
  point: (at: number | null | undefined) => void,
): uPlot.Options => {
  /** Points: every error, because a line of a few seconds is hardly visible, and other values that have no line. */
  const dots = ({ data: [, values = []] }: uPlot): number[] =>
    line === '--bad'
      ? [...values].flatMap((value, at) => (value ? [at] : []))
      : isolated(values as (number | null)[]);
  return {
    width,
    height,
    padding: [4, 4, 4, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    axes: [{ show: false }, { show: false }],
    scales: {
      // Always the whole half hour, so that the charts of a page are aligned.
      x: { range: (_plot, _least, most) => [most - spanSeconds, most] },
      y: { range: (_plot, _least, most) => [0, Math.max(floor, (most ?? 0) * 1.15)] },
    },
    series: [
      {},
      {
        stroke: () => colour(line),
        fill: () => `${colour(line)}1f`,
        width: 1.5,
        points: { show: true, size: 5, fill: () => colour(line), filter: dots },
      },
    ],
    hooks: { setCursor: [({ cursor: { idx } }) => point(idx)] },
  };
};

/** A small line chart of the last half hour, with its name and its latest value, or the value under the pointer. */
export const Chart = ({ name, points, ...look }: { name: string; points: Points | undefined } & Look) => {
  const canvas = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const pointed = useSignal<number | null | undefined>(undefined);
  useEffect(() => {
    if (points === undefined || canvas.current === null) return;
    const drawn: Points = [points[0], look.line === '--bad' ? withoutRest(points[1]) : points[1]];
    if (plot.current) plot.current.setData(drawn);
    else {
      const width = canvas.current.clientWidth || 200;
      plot.current = new uPlot(
        optionsOf(look, width, (at) => (pointed.value = at)),
        drawn,
        canvas.current,
      );
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- how a chart looks does not change
  }, [points]);
  useEffect(() => {
    const resize = new ResizeObserver(([entry]) =>
      plot.current?.setSize({ width: entry?.contentRect.width ?? 0, height }),
    );
    if (canvas.current) resize.observe(canvas.current);
    const redraw = (): void => plot.current?.redraw();
    dark.addEventListener('change', redraw);
    return () => {
      resize.disconnect();
      dark.removeEventListener('change', redraw);
      plot.current?.destroy();
    };
  }, []);

  const textOf = (value: number | null | undefined): string =>
    value === null || value === undefined ? '–' : amount(value, look.unit);
  const [times, values]: Points = points ?? [[], []];
  const at = pointed.value ?? undefined;
  const latest = textOf(values.at(-1));
  const known = values.filter((value) => value !== null);
  const top = known.length > 0 ? textOf(Math.max(...known)) : undefined;
  const most = top === undefined ? 'no requests' : `at most ${top}`;
  return (
    <figure>
      <figcaption>
        <span>{name}</span>
        <span class="now">
          <strong>{at === undefined ? latest : textOf(values[at])}</strong>
          <span class="soft">{at !== undefined && ` ${timeOfDay(times[at] ?? 0)}`}</span>
        </span>
      </figcaption>
      <div
        class="canvas"
        role="img"
        aria-label={`${name} over the last half hour: ${points ? `now ${latest}, ${most}` : 'no values yet'}`}
        ref={canvas}
      />
      {/* The label of the chart says the same. */}
      <p class="scale" aria-hidden="true">
        <span>30 min ago</span>
        <span>{top !== undefined && `peak ${top}`}</span>
      </p>
    </figure>
  );
};
