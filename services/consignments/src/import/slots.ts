import type { SlotLimits } from '@platform/service-kit/fair-slots';

/** Limits of concurrent readers of results. Each keeps some thousand lines in memory that the client has not read yet. */
export const readerLimits: SlotLimits = {
  max: 10,
  maxPerCaller: 2,
  maxPerNetwork: 5,
  preemptible: true,
  code: 'too_many_downloads',
  detail: 'Too many results are being read; try again shortly.',
};

/** Limits of concurrent imports. Each keeps up to a megabyte of lines in memory that wait for a connection (docs/adr/0180). */
export const importLimits: SlotLimits = {
  max: 40,
  maxPerCaller: 10,
  maxPerNetwork: 20,
  preemptible: true,
  code: 'too_many_imports',
  detail: 'Too many imports are running; try again shortly.',
};
