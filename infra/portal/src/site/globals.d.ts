import type { ServiceCard } from '../services.ts';

declare global {
  /** Defined when the portal is built. */
  const SERVICES: readonly ServiceCard[];
  /** Filters of the list of webhooks, from the OpenAPI document of store-webhooks. */
  const EVENT_FILTERS: { status: readonly string[]; event: readonly string[] };
}
