import type { AlertText, Choices, ServiceCard } from '../services.ts';

declare global {
  /** The build replaces these names with values. */
  const SERVICES: readonly ServiceCard[];
  /** From the OpenAPI documents. */
  const CHOICES: Choices;
  /** From infra/deploy/observability/alerts.yaml, by alert name. */
  const ALERT_TEXTS: Readonly<Record<string, AlertText>>;
}
