import uPlot from 'uplot';
import { element } from '../element.ts';
import { short } from './text.ts';
import { timeOfDay } from './time.ts';
import { isolated } from './traffic-data.ts';

/** A small line chart of the last half hour. */
export interface Chart {
  figure: HTMLElement;
  /** @param times seconds since 1970 */
  draw: (times: readonly number[], values: readonly (number | null)[]) => void;
}

const height = 56;
const spanSeconds = 1800;
const dark = matchMedia('(prefers-color-scheme: dark)');
const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const amount = (value: number, unit: string): string =>
  unit === ' ms' && value >= 1000 ? `${short(value / 1000)} s` : `${short(value)}${unit}`;

/**
 * A chart with its name and its latest value, or the value under the pointer. `unit` follows the number; `floor` is the
 * minimum of the upper end of the scale, so that small values do not look large.
 */
export const createChart = (name: string, unit: string, floor: number, line: '--accent' | '--bad'): Chart => {
  const value = element('strong', {}, '–');
  const at = element('span', { class: 'soft' }, '');
  const canvas = element('div', { class: 'canvas', role: 'img' });
  const peak = element('span', {}, '');
  const figure = element(
    'figure',
    {},
    element('figcaption', {}, element('span', {}, name), element('span', { class: 'now' }, value, at)),
    canvas,
    // The aria-label of the chart says the same.
    element('p', { class: 'scale', 'aria-hidden': 'true' }, element('span', {}, '30 min ago'), peak),
  );
  const tell = (given: number | null | undefined, time?: number): void => {
    value.textContent = given === null || given === undefined ? '–' : amount(given, unit);
    at.textContent = time === undefined ? '' : ` ${timeOfDay(time)}`;
  };
  let data: [number[], (number | null)[]] = [[], []];
  const latest = (): void => tell(data[1].at(-1));
  /** Of errors each one, because a line of a few seconds is hardly visible; of other values those without a line. */
  const dots = (): number[] =>
    line === '--bad' ? data[1].flatMap((one, at) => (one ? [at] : [])) : isolated(data[1]);
  let plot: uPlot | undefined;
  const make = (): uPlot => {
    const made = new uPlot(
      {
        width: canvas.clientWidth || 200,
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
        hooks: {
          setCursor: [
            ({ cursor: { idx } }) => {
              if (idx === null || idx === undefined) latest();
              else tell(data[1][idx], data[0][idx]);
            },
          ],
        },
      },
      data,
      canvas,
    );
    new ResizeObserver(() => made.setSize({ width: canvas.clientWidth, height })).observe(canvas);
    dark.addEventListener('change', () => made.redraw());
    return made;
  };
  return {
    figure,
    draw: (times, values) => {
      data = [[...times], [...values]];
      if (plot) plot.setData(data);
      else plot = make();
      latest();
      const known = values.filter((one) => one !== null);
      const top = known.length > 0 ? amount(Math.max(...known), unit) : undefined;
      peak.textContent = top === undefined ? '' : `peak ${top}`;
      const most = top === undefined ? 'no requests' : `at most ${top}`;
      canvas.setAttribute('aria-label', `${name} over the last half hour: now ${value.textContent}, ${most}`);
    },
  };
};
