import { addressOf, type Guide } from './guides.ts';
import { fill, html, type Markup } from './html.ts';
import type { ServiceCard } from './services.ts';

const card = ({ name, title, purpose, callers, addresses }: ServiceCard, hasGuide: boolean): Markup =>
  fill('card', {
    name,
    title,
    purpose,
    callers,
    addresses: addresses.map((path) => html`<li><code>${path}</code></li>`),
    guide: hasGuide ? html`<a href="${addressOf(name)}" aria-label="Guide of ${title}">Guide</a>` : '',
  });

const numbers = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];

/** The first page: the services, their addresses and whether they are ready, and how callers authenticate. */
export const overview = (services: readonly ServiceCard[], guides: readonly Guide[]): Markup =>
  fill('overview', {
    count: numbers[services.length] ?? String(services.length),
    services: services.map((service) =>
      card(
        service,
        guides.some(({ name }) => name === service.name),
      ),
    ),
  });
