import { html, type Markup } from './html.ts';
import type { ServiceCard } from './services.ts';

/** How the six know their callers. */
const credentials: readonly { name: string; how: string; where: string }[] = [
  {
    name: 'Access token',
    how: 'Authorization: Bearer …',
    where: 'Management of every service; each operation names the scope it asks for.',
  },
  { name: 'Login', how: 'POST /api/v1/auth/login', where: 'Task manager: a cookie, or a token of its own.' },
  { name: 'API key', how: 'X-API-Key: …', where: 'Lists of the verification projects.' },
  { name: 'Signature', how: 'X-HMAC-SHA256, X-Timestamp', where: 'Callbacks of a game server.' },
  { name: 'Token in the address', how: '/api/v1/hooks/…/{token}', where: 'Webhooks of providers.' },
];

const card = ({ name, title, purpose, callers, addresses }: ServiceCard): Markup =>
  html` <li class="card" data-service="${name}">
    <div class="card-head">
      <h3><a href="/docs/reference/?api=${name}">${title}</a></h3>
      <span class="state" data-state="asking">Asking</span>
    </div>
    <p>${purpose}</p>
    <p class="callers">${callers}</p>
    <ul class="addresses" aria-label="Addresses of ${title}">
      ${addresses.map((path) => html`<li><code>${path}</code></li>`)}
    </ul>
    <p class="ways">
      <a href="/docs/reference/?api=${name}" aria-label="Reference of ${title}">Reference</a>
      <a href="/openapi/${name}.json" aria-label="OpenAPI document of ${title}">OpenAPI</a>
    </p>
  </li>`;

/** The first page: what there is, where it is, and whether it is well. */
export const overview = (services: readonly ServiceCard[]): Markup =>
  html` <main id="content" class="page">
      <section class="hero">
        <div>
          <h1>Six services,<br />one address.</h1>
          <p class="lead">
            Each has its own database, its own life and one interface, described by the document it validates
            with. Everything goes through the gateway.
          </p>
        </div>
        <div class="address">
          <p class="label" id="address-label">The gateway</p>
          <p class="address-line">
            <code id="origin" aria-labelledby="address-label"></code
            ><button type="button" class="quiet" id="copy-origin">Copy</button>
          </p>
          <p class="wellness" role="status" id="wellness">Asking the services …</p>
        </div>
      </section>
      <section aria-labelledby="services-heading">
        <h2 id="services-heading">Services</h2>
        <ul class="cards">
          ${services.map(card)}
        </ul>
      </section>
      <section aria-labelledby="entry-heading" class="entry">
        <h2 id="entry-heading">Getting in</h2>
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
            The reference fills these in for you, with names of the demo’s data, so that “Test request” works
            at once. They open this machine’s demo data and nothing else.
          </p>
          <ul id="demo-list"></ul>
        </div>
      </section>
    </main>
    <footer class="foot">
      <p>
        Errors are <code>application/problem+json</code> everywhere, with a code to rely on and a request id
        to ask about.
      </p>
    </footer>`;
