import { demoCredentials, type DemoCredentials } from './demo.ts';
import { byId, copyOnPress, element } from './element.ts';
import { askReadiness, isReady, showHealth } from './readiness.ts';

const refreshMs = 10_000;

const cards = [...document.querySelectorAll<HTMLElement>('[data-service]')];
const summary = byId('health', HTMLElement);

const sentence = (ready: number, all: number): string => {
  if (ready === all) return 'Every service is ready.';
  return ready === 0 ? 'No service is ready.' : `${ready} of ${all} services are ready.`;
};

const refresh = async (): Promise<void> => {
  const found = await Promise.all(
    cards.map(async (card) => {
      const one = await askReadiness(card.getAttribute('data-service') ?? '');
      const state = card.querySelector('.state');
      card.hidden = one === undefined;
      if (state && one) showHealth(state, one);
      return one;
    }),
  );
  const deployed = found.filter((one) => one !== undefined);
  const text = sentence(deployed.filter(isReady).length, deployed.length);
  // A screen reader reads it aloud again only when it changes.
  if (summary.textContent !== text) summary.textContent = text;
};

const keepRefreshing = async (): Promise<void> => {
  if (!document.hidden) await refresh();
  setTimeout(() => void keepRefreshing(), refreshMs);
};

/** The credentials that can be copied. */
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
