import { demoCredentials, type DemoCredentials } from './demo.ts';
import { byId, copyOnPress, element } from './element.ts';
import { askReadiness, showWellness } from './readiness.ts';

const askAgainMs = 10_000;

const cards = [...document.querySelectorAll('[data-service]')];
const wellness = byId('wellness', HTMLElement);

const sentence = (well: number): string => {
  const all = cards.length;
  if (well === all) return 'Every service is ready.';
  return well === 0 ? 'No service is ready.' : `${well} of ${all} services are ready.`;
};

const look = async (): Promise<void> => {
  const found = await Promise.all(
    cards.map(async (card) => {
      const one = await askReadiness(card.getAttribute('data-service') ?? '');
      const state = card.querySelector('.state');
      if (state) showWellness(state, one);
      return one.state !== 'bad';
    }),
  );
  const told = sentence(found.filter(Boolean).length);
  // A screen reader hears it again only when it is news.
  if (wellness.textContent !== told) wellness.textContent = told;
};

const keepLooking = async (): Promise<void> => {
  if (!document.hidden) await look();
  setTimeout(() => void keepLooking(), askAgainMs);
};

/** What can be copied. */
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
void keepLooking();
void showDemo();
document.addEventListener('visibilitychange', () => void (document.hidden || look()));
