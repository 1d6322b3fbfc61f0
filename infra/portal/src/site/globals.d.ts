import type { AlertText, ServiceCard } from '../services.ts';

declare global {
  /** Defined when the portal is built. */
  const SERVICES: readonly ServiceCard[];
  /** Filters of the list of webhooks, from the OpenAPI document of store-webhooks. */
  const EVENT_FILTERS: { status: readonly string[]; event: readonly string[] };
  /** The fields of a line of a statement, from the OpenAPI document of wallet-operator. */
  const STATEMENT_FIELDS: readonly { name: string; isNeeded: boolean }[];
  /** The fields of a mapping of a generic POS, by record, from the OpenAPI document of store-webhooks. */
  const MAPPED_FIELDS: Readonly<Record<string, readonly { name: string; initial?: string }[]>>;
  /** The kinds of providers of a store, by its field, from the OpenAPI document of store-webhooks. */
  const PROVIDER_KINDS: Readonly<Record<'pos' | 'delivery' | 'identity' | 'payments', readonly string[]>>;
  /** What to do about each alert of infra/deploy/observability/alerts.yaml. */
  const ALERT_TEXTS: Readonly<Record<string, AlertText>>;
}
