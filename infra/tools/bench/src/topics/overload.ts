/**
 * What users notice of overload.
 *
 * Capacity is what 64 connections get that each send the next request at once. Then 800 connections offer twice as much
 * for `--seconds` (60); three times, each compared with the capacity just before and after it, and the median counts.
 * The service shares its cores with PostgreSQL and Redis, and the load generator has a core of its own: on a shared one
 * it would take the CPU time of the service just when it offers most. Latencies come from separate requests, 100 a
 * second in both phases, because wrk does not tell those of accepted and of refused ones apart. This process has a large
 * young generation (package.json), because its own collections delayed them by up to 50 ms.
 */
import type { MeasureOptions, Topic } from '../figure.ts';
import { twiceTheCapacity } from '../overload/capacity.ts';
import { targets } from '../overload/targets.ts';

const names = Object.keys(targets) as (keyof typeof targets)[];
const services = names.map((name) => [
  name,
  ({ seconds = 60 }: MeasureOptions) => twiceTheCapacity(name, seconds),
]);

export const topic: Topic = {
  title: 'Overload',
  parts: Object.fromEntries(services),
};
