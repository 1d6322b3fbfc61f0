import type { ServiceCard } from '../services.ts';

declare global {
  /** Put in when the portal is built. */
  const SERVICES: readonly ServiceCard[];
}
