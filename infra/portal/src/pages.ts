import { addressOf, type Guide, isDecision } from './guides.ts';
import { fillTemplate, html, type Markup } from './html.ts';
import type { ServiceCard } from './services.ts';

const card = ({ name, title, purpose, callers, addresses }: ServiceCard, hasGuide: boolean): Markup =>
  fillTemplate('card', {
    name,
    title,
    purpose,
    callers,
    addresses: addresses.map((path) => html`<li><code>${path}</code></li>`),
    guide: hasGuide ? html`<a href="${addressOf(name)}" aria-label="Guide of ${title}">Guide</a>` : '',
  });

const numbers = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];

/** The first page: the services with their addresses and readiness, and the ways to authenticate. */
const overview = (services: readonly ServiceCard[], guides: readonly Guide[]): Markup =>
  fillTemplate('overview', {
    count: numbers[services.length] ?? String(services.length),
    services: services.map((service) =>
      card(
        service,
        guides.some(({ name }) => name === service.name),
      ),
    ),
  });

const search = fillTemplate('search');

const isContract = ({ name }: Guide): boolean => name.startsWith('contracts/');
const isGuide = ({ name }: Guide): boolean => !name.includes('/');

const entry = (guide: Guide, current?: Guide): Markup =>
  guide === current
    ? html`<li><a href="${guide.address}" aria-current="page">${guide.title}</a></li>`
    : html`<li><a href="${guide.address}">${guide.title}</a></li>`;

const list = (heading: string, guides: readonly Guide[], current?: Guide): Markup =>
  html`<h2>${heading}</h2>
    <ul>
      ${guides.map((guide) => entry(guide, current))}
    </ul>`;

const onThisPage = ({ contents }: Guide): Markup[] =>
  contents.length < 2
    ? []
    : [
        html`<details class="on-page">
          <summary>On this page</summary>
          <ul>
            ${contents.map(
              ({ heading, id, depth }) =>
                html`<li class="level-${String(depth)}"><a href="#${id}">${heading}</a></li>`,
            )}
          </ul>
        </details>`,
      ];

/** A guide beside its contents and the list of guides. */
const guidePage = (guide: Guide, guides: readonly Guide[]): Markup =>
  html`<div class="page with-contents">
    <nav class="contents" aria-label="Guides">
      ${search} ${onThisPage(guide)} ${list('Guides', guides.filter(isGuide), guide)}
      ${list('Contracts', guides.filter(isContract), guide)}
      <p><a href="/docs/guides/#decisions">Decisions</a></p>
    </nav>
    <main id="content" class="guide">${guide.body}</main>
  </div>`;

/** The search and the list of all guides and decisions. */
const guideList = (guides: readonly Guide[]): Markup =>
  html`<main id="content" class="page guides-list">
    <h1>Guides</h1>
    ${search} ${list('Guides', guides.filter(isGuide))} ${list('Contracts', guides.filter(isContract))}
    <section id="decisions">
      ${list(
        'Decisions',
        guides.filter(({ name }) => isDecision(name)),
      )}
    </section>
  </main>`;

/** The pages for links in mails. The script renders a form on each. */
const accountPages = ['password', 'email', 'deletion'].map((name) => ({
  path: `account/${name}/index.html`,
  title: 'Platform',
  script: 'account',
  style: 'portal',
  body: fillTemplate('account'),
}));

interface Page {
  /** Path in the output folder: served below /docs/, or at /account/ if it starts with `account/`. */
  path: string;
  title: string;
  /** Names of its script and of its style sheet. */
  script: string;
  style: string;
  body: Markup;
}

const navigationLinks = [
  { href: '/docs/', name: 'Overview', path: 'index.html' },
  { href: '/docs/guides/', name: 'Guides', path: 'guides/index.html' },
  { href: '/docs/reference/', name: 'Reference', path: 'reference/index.html' },
  { href: '/docs/ops/', name: 'Operations', path: 'ops/index.html' },
];

const navigation = (path: string): Markup[] =>
  navigationLinks.map((link) =>
    link.path === path || (link.name === 'Guides' && path.startsWith('guides/'))
      ? html`<a href="${link.href}" aria-current="page">${link.name}</a>`
      : html`<a href="${link.href}">${link.name}</a>`,
  );

const frame = ({ path, title, script, style, body }: Page): string => {
  const isAccount = path.startsWith('account/');
  return fillTemplate('frame', {
    title,
    script,
    style,
    folder: isAccount ? '/account' : '/docs',
    content: isAccount ? body : fillTemplate('bar', { navigation: navigation(path), body }),
  }).markup;
};

const guidePages = (guides: readonly Guide[]): Page[] => [
  {
    path: 'guides/index.html',
    title: 'Guides · Platform',
    script: 'guides',
    style: 'portal',
    body: guideList(guides),
  },
  ...guides.map((guide) => ({
    path: `guides/${guide.name}/index.html`,
    title: `${guide.title} · Platform`,
    script: 'guides',
    style: 'portal',
    body: guidePage(guide, guides),
  })),
];

/** Renders every page of the portal. */
export const pages = (
  services: readonly ServiceCard[],
  guides: readonly Guide[],
): { path: string; html: string }[] =>
  [
    {
      path: 'index.html',
      title: 'Platform',
      script: 'overview',
      style: 'portal',
      body: overview(services, guides),
    },
    {
      path: 'reference/index.html',
      title: 'Reference · Platform',
      script: 'reference',
      style: 'reference',
      // Scalar renders the content, including the `main` element.
      body: fillTemplate('reference'),
    },
    {
      path: 'ops/index.html',
      title: 'Operations · Platform',
      script: 'operations',
      style: 'portal',
      // The script renders the content.
      body: fillTemplate('operations'),
    },
    ...guidePages(guides),
    ...accountPages,
  ].map((page) => ({ path: page.path, html: frame(page) }));
