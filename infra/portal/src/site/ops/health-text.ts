import { short } from './text.ts';

/** A span of time in its largest unit, such as `12 min`. */
export const duration = (seconds: number): string => {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
};

/** An amount of memory, such as `1.2 MB`. */
export const bytes = (value: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = value < 1000 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), units.length - 1);
  return `${short(value / 1000 ** power)} ${units[power]}`;
};

/** The page of a section of a guide: `docs/deploy.md#logs` → `/docs/guides/deploy/#logs`. */
export const guideAddress = (guide: string): string => {
  const [file = '', section = ''] = guide.split('#', 2);
  return `/docs/guides/${file.slice('docs/'.length, -'.md'.length)}/#${section}`;
};
