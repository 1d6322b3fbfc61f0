import { guideList, guidePage } from './guides-page.ts';
import type { Guide } from './guides.ts';
import { html, type Markup } from './html.ts';
import { overview } from './overview-page.ts';
import type { ServiceCard } from './services.ts';

/** The pages for the links in mails, each a form that the script fills in. */
const accountPages = ['password', 'email', 'deletion'].map((name) => ({
  path: `account/${name}/index.html`,
  title: 'Platform',
  script: 'account',
  style: 'portal',
  body: html`<header class="bar">
      <span class="mark"><img src="/account/icon.svg" alt="" width="26" height="26" />Platform</span>
    </header>
    <main id="content" class="page">
      <noscript
        ><p class="note">
          This page needs JavaScript. <span lang="de">Diese Seite braucht JavaScript.</span>
        </p></noscript
      >
    </main>`,
}));

/** The reference of all six. Scalar draws it, and the `main` of the page. */
const reference = html` <div id="content">
  <noscript
    ><p class="note">
      The reference needs JavaScript. The documents themselves are at <code>/openapi/{service}.json</code>.
    </p></noscript
  >
  <div id="reference"></div>
</div>`;

/** The operations page, which its script fills. */
const operations = html` <main id="content" class="page">
  <noscript><p class="note">This page needs JavaScript.</p></noscript>
</main>`;

interface Page {
  /** Where it is written; below /docs/, or its whole address where it begins with account/. */
  path: string;
  title: string;
  /** Names of its script and of its style sheet. */
  script: string;
  style: string;
  body: Markup;
}

const places = [
  { href: '/docs/', name: 'Overview', path: 'index.html' },
  { href: '/docs/guides/', name: 'Guides', path: 'guides/index.html' },
  { href: '/docs/reference/', name: 'Reference', path: 'reference/index.html' },
  { href: '/docs/ops/', name: 'Operations', path: 'ops/index.html' },
];

const navigation = (path: string): Markup[] =>
  places.map((place) =>
    place.path === path || (place.name === 'Guides' && path.startsWith('guides/'))
      ? html`<a href="${place.href}" aria-current="page">${place.name}</a>`
      : html`<a href="${place.href}">${place.name}</a>`,
  );

const frame = ({ path, title, script, style, body }: Page): string => {
  const isAccount = path.startsWith('account/');
  const folder = isAccount ? '/account' : '/docs';
  const content = isAccount
    ? body
    : html`<a class="skip" href="#content">Skip to the content</a>
        <header class="bar">
          <a class="mark" href="/docs/"><img src="/docs/icon.svg" alt="" width="26" height="26" />Platform</a>
          <nav aria-label="Portal">${navigation(path)}</nav>
        </header>
        ${body}`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#faf9f6" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#131514" media="(prefers-color-scheme: dark)" />
        <title>${title}</title>
        <link rel="icon" href="${folder}/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="${folder}/assets/${style}.css" />
        <script type="module" src="${folder}/assets/${script}.js"></script>
      </head>
      <body class="${script}">
        ${content}
      </body>
    </html> `.markup;
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

/** Every page of the portal, ready to be written. */
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
      body: reference,
    },
    {
      path: 'ops/index.html',
      title: 'Operations · Platform',
      script: 'operations',
      style: 'portal',
      body: operations,
    },
    ...guidePages(guides),
    ...accountPages,
  ].map((page) => ({ path: page.path, html: frame(page) }));
