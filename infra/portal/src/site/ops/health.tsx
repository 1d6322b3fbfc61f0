import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { usePolling } from './content.tsx';
import { entriesOf, headline, itemLook, lookOf, servicesText, type Entry } from './health-entries.ts';
import { createHealthReader, readReadiness, type Health, type Readiness } from './health-data.ts';
import { items } from './health-items.ts';
import { guideAddress } from './health-text.ts';
import { state } from './parts.tsx';
import { useSession } from './session.ts';
import { when } from './time.ts';

const refreshMs = 15_000;

/** Readiness is asked more often, because it is cheap and shows an outage first. */
const watchMs = 3000;

const AlertEntry = ({ entry }: { entry: Entry }) => {
  const { alert, isUrgent, summary, action, guide, services, since, item } = entry;
  const details = [alert, servicesText(services), since === undefined ? '' : `since ${when(since)}`];
  return (
    <li>
      <p class="alert-head">
        {state(lookOf(entry), isUrgent ? 'urgent' : 'not urgent')}
        <strong>{summary}</strong>
      </p>
      <p>
        {action}{' '}
        {item?.href.startsWith('#') && (
          <>
            <a href={item.href}>Show “{item.name}”</a>{' '}
          </>
        )}
        <a href={guideAddress(guide)}>Guide</a>
      </p>
      <p class="soft">{details.filter((text) => text !== '').join(' · ')}</p>
    </li>
  );
};

/** What is known of the platform, read again and again; undefined until everything was read once. */
const useHealth = (): Health | undefined => {
  const session = useSession();
  const readiness = useSignal<readonly Readiness[]>([]);
  const values = useSignal<Omit<Health, 'readiness'>>();
  const read = useMemo(() => createHealthReader(session), [session]);
  const reading = useRef({ isRunning: false, endedAt: -refreshMs });
  /** In an outage this takes longer than the pause between two looks at the readiness. */
  const readValues = async (): Promise<void> => {
    if (reading.current.isRunning) return;
    reading.current.isRunning = true;
    values.value = await read();
    reading.current = { isRunning: false, endedAt: performance.now() };
  };
  /** Shows at once that a service became ready or not ready, and reads everything then or when it is time. */
  usePolling(async () => {
    const now = await readReadiness();
    const hasChanged = JSON.stringify(now) !== JSON.stringify(readiness.value);
    if (hasChanged) readiness.value = now;
    if (hasChanged || performance.now() - reading.current.endedAt >= refreshMs) void readValues();
  }, watchMs);
  return values.value && { ...values.value, readiness: readiness.value };
};

/** The state of the platform, and the alerts with what to do. */
export const HealthStrip = () => {
  const health = useHealth();
  const entries = health ? entriesOf(health) : [];
  return (
    <section class="strip" aria-label="Health">
      <ul class="chips">
        {items.map((item) => (
          <li key={item.name}>
            <a href={item.href} data-state={health ? itemLook(item, health, entries) : 'plain'}>
              <span>{item.name}</span>
              <strong>{health ? (item.text(health) ?? '–') : '…'}</strong>
            </a>
          </li>
        ))}
      </ul>
      <details
        data-state={health && (entries.map(lookOf).toSorted()[0] ?? 'good')}
        data-empty={health && entries.length === 0 ? '' : undefined}
      >
        <summary>{health ? headline(health, entries) : 'Checking …'}</summary>
        <ul class="alerts">
          {entries.map((entry) => (
            <AlertEntry key={entry.alert} entry={entry} />
          ))}
        </ul>
      </details>
    </section>
  );
};
