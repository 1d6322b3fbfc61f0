import type { Bounds } from '@platform/service-kit/places';

/** Readers of results, each of which holds some thousand lines that it has not taken yet. */
export const readerBounds: Bounds = {
  most: 10,
  mostOfCaller: 2,
  mostOfNetwork: 5,
  givesWay: true,
  code: 'too_many_downloads',
  detail: 'Too many results are being read; try again shortly.',
};

/** Imports, each of which holds up to a megabyte of lines that wait for a connection (docs/adr/0180). */
export const importBounds: Bounds = {
  most: 40,
  mostOfCaller: 10,
  mostOfNetwork: 20,
  givesWay: true,
  code: 'too_many_imports',
  detail: 'Too many imports are running; try again shortly.',
};
