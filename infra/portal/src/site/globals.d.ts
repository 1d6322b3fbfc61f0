import type { AlertText, Choices, ServiceCard } from '../services.ts';

declare global {
  /** Defined when the portal is built. */
  const SERVICES: readonly ServiceCard[];
  /** From the OpenAPI documents. */
  const CHOICES: Choices;
  /** What to do about each alert of infra/deploy/observability/alerts.yaml. */
  const ALERT_TEXTS: Readonly<Record<string, AlertText>>;
}
