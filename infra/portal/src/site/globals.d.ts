import type { ServiceCard } from '../services.ts';

declare global {
  /** Put in when the portal is built. */
  const SERVICES: readonly ServiceCard[];
  /** What the list of webhooks can be filtered by, from the document of store-webhooks. */
  const EVENT_FILTERS: { status: readonly string[]; event: readonly string[] };
}
