import type { AlertRule } from '../alert-rules.ts';
import type { ServiceCard } from '../services.ts';

declare global {
  /** Defined when the portal is built. */
  const SERVICES: readonly ServiceCard[];
  /** Filters of the list of webhooks, from the OpenAPI document of store-webhooks. */
  const EVENT_FILTERS: { status: readonly string[]; event: readonly string[] };
  /** The fields of a line of a statement, from the OpenAPI document of wallet-operator. */
  const STATEMENT_FIELDS: readonly { name: string; isNeeded: boolean }[];
  /** The rules of infra/deploy/observability/alerts.yaml that the page evaluates. */
  const ALERT_RULES: readonly AlertRule[];
}
