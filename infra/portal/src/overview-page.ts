import { html, type Markup } from './html.ts';
import { addressOf, type Guide } from './guides.ts';
import type { ServiceCard } from './services.ts';

/** How callers authenticate. */
const credentials: readonly { name: string; how: string; where: string }[] = [
  {
    name: 'Access token',
    how: 'Authorization: Bearer …',
    where: 'Management of every service; each operation names the scope it requires.',
  },
  {
    name: 'Login',
    how: 'POST /api/v1/auth/login',
    where: 'Task manager: a cookie, or an access token of the task manager.',
  },
  { name: 'API key', how: 'X-API-Key: …', where: 'Lists of the verification projects.' },
  { name: 'Signature', how: 'X-HMAC-SHA256, X-Timestamp', where: 'Callbacks of a game server.' },
  { name: 'Token in the address', how: '/api/v1/hooks/…/{token}', where: 'Webhooks of providers.' },
];

const card = ({ name, title, purpose, callers, addresses }: ServiceCard, hasGuide: boolean): Markup =>
  html` <li class="card" data-service="${name}">
    <div class="card-head">
      <h3><a href="/docs/reference/?api=${name}">${title}</a></h3>
      <span class="state" data-state="checking">Checking</span>
    </div>
    <p>${purpose}</p>
    <p class="callers">${callers}</p>
    <ul class="addresses" aria-label="Addresses of ${title}">
      ${addresses.map((path) => html`<li><code>${path}</code></li>`)}
    </ul>
    <p class="card-links">
      <a href="/docs/reference/?api=${name}" aria-label="Reference of ${title}">Reference</a>
      ${hasGuide ? html`<a href="${addressOf(name)}" aria-label="Guide of ${title}">Guide</a>` : ''}
      <a href="/openapi/${name}.json" aria-label="OpenAPI document of ${title}">OpenAPI</a>
    </p>
  </li>`;

const numbers = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];

const countOf = ({ length }: readonly unknown[]): string => numbers[length] ?? String(length);

/** The first page: the services, their addresses and whether they are ready. */
export const overview = (services: readonly ServiceCard[], guides: readonly Guide[]): Markup =>
  html` <main id="content" class="page">
      <section class="hero">
        <div>
          <h1>${countOf(services)} services,<br />one address.</h1>
          <p class="lead">
            Each has its own database, its own releases and one API, described by the OpenAPI document that
            validates its requests. All requests go through the gateway.
          </p>
        </div>
        <div class="address">
          <p class="label" id="address-label">The gateway</p>
          <p class="address-line">
            <code id="origin" aria-labelledby="address-label"></code
            ><button type="button" class="quiet" id="copy-origin">Copy</button>
          </p>
          <p class="health" role="status" id="health">Checking the services …</p>
        </div>
      </section>
      <section aria-labelledby="services-heading">
        <h2 id="services-heading">Services</h2>
        <ul class="cards">
          ${services.map((service) =>
            card(
              service,
              guides.some(({ name }) => name === service.name),
            ),
          )}
        </ul>
      </section>
      <section aria-labelledby="entry-heading" class="entry">
        <h2 id="entry-heading">Authentication</h2>
        <dl class="entries">
          ${credentials.map(
            ({ name, how, where }) =>
              html`<div>
                <dt>${name}</dt>
                <dd><code>${how}</code></dd>
                <dd class="soft">${where}</dd>
              </div>`,
          )}
        </dl>
        <div id="demo" class="demo" hidden>
          <h3>This is a demo stack</h3>
          <p>
            The reference fills in these credentials and the ids of the demo data, so that “Test request”
            works at once. They give access to the demo data of this machine and to nothing else.
          </p>
          <ul id="demo-list"></ul>
        </div>
      </section>
    </main>
    <footer class="foot">
      <p>
        Every error is <code>application/problem+json</code>, with a stable code and a request id for support.
      </p>
    </footer>`;
