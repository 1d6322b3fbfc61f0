import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parse } from 'yaml';

/** What the rules of Prometheus say about an alert. */
export interface AlertText {
  severity: 'page' | 'ticket';
  /** What follows the names of several services that it is about, such as `have lost Redis`. */
  plural?: string | undefined;
  /** What to do. */
  action: string;
  /** Section of a guide, such as `docs/deploy.md#logs`. */
  guide: string;
}

interface Rule {
  alert: string;
  labels: { severity: AlertText['severity'] };
  annotations: Omit<AlertText, 'severity'>;
}

const file = resolve(import.meta.dirname, '../../deploy/observability/alerts.yaml');

/** What to do about each alert of alerts.yaml, by its name. */
export const alertTexts = async (): Promise<Record<string, AlertText>> => {
  const { groups } = parse(await readFile(file, 'utf8')) as { groups: { rules: Rule[] }[] };
  const texts = groups.flatMap(({ rules }) =>
    rules.map(({ alert, labels: { severity }, annotations: { action, guide, plural } }) => [
      alert,
      { severity, action, guide, plural },
    ]),
  );
  return Object.fromEntries(texts) as Record<string, AlertText>;
};
