import type { SlotLimits } from '@platform/service-kit/fair-slots';

/** Readers of results, each of which holds some thousand lines that it has not taken yet. */
export const readerBounds: SlotLimits = {
  max: 10,
  maxPerCaller: 2,
  maxPerNetwork: 5,
  preemptible: true,
  code: 'too_many_downloads',
  detail: 'Too many results are being read; try again shortly.',
};

/** Imports, each of which holds up to a megabyte of lines that wait for a connection (docs/adr/0180). */
export const importBounds: SlotLimits = {
  max: 40,
  maxPerCaller: 10,
  maxPerNetwork: 20,
  preemptible: true,
  code: 'too_many_imports',
  detail: 'Too many imports are running; try again shortly.',
};
