import { demoCredentials, type DemoCredentials } from './demo.ts';
import { byId, copyOnPress, element } from './element.ts';
import { fetchReadiness, isReady, showHealth } from './readiness.ts';

const refreshMs = 10_000;

const cards = [...document.querySelectorAll<HTMLElement>('[data-service]')];
const summary = byId('health', HTMLElement);

const summaryText = (ready: number, total: number): string => {
  if (ready === total) return 'Every service is ready.';
  return ready === 0 ? 'No service is ready.' : `${ready} of ${total} services are ready.`;
};

const refresh = async (): Promise<void> => {
  const results = await Promise.all(
    cards.map(async (card) => {
      const readiness = await fetchReadiness(card.getAttribute('data-service') ?? '');
      const state = card.querySelector('.state');
      card.hidden = readiness === undefined;
      if (state && readiness) showHealth(state, readiness);
      return readiness;
    }),
  );
  const deployed = results.filter((readiness) => readiness !== undefined);
  const text = summaryText(deployed.filter(isReady).length, deployed.length);
  // Set only if it changes, because screen readers read every update.
  if (summary.textContent !== text) summary.textContent = text;
};

const keepRefreshing = async (): Promise<void> => {
  if (!document.hidden) await refresh();
  setTimeout(() => void keepRefreshing(), refreshMs);
};

/** Labels of the credentials that can be copied. */
const names: Partial<Record<keyof DemoCredentials, string>> = {
  accessToken: 'Access token, every scope',
  apiKey: 'API key',
  hmacSecret: 'Signing secret',
  email: 'Login: email',
  password: 'Login: password',
};

const showDemo = async (): Promise<void> => {
  const credentials = await demoCredentials();
  if (!credentials) return;
  for (const [key, name] of Object.entries(names)) {
    const value = credentials[key as keyof DemoCredentials];
    if (typeof value !== 'string') continue;
    const copy = element('button', { type: 'button', class: 'quiet', 'aria-label': `Copy: ${name}` }, 'Copy');
    copyOnPress(copy, value);
    byId('demo-list', HTMLUListElement).append(element('li', {}, element('span', {}, name), copy));
  }
  byId('demo', HTMLElement).hidden = false;
};

byId('origin', HTMLElement).textContent = location.origin;
copyOnPress(byId('copy-origin', HTMLButtonElement), location.origin);
void keepRefreshing();
void showDemo();
document.addEventListener('visibilitychange', () => void (document.hidden || refresh()));
