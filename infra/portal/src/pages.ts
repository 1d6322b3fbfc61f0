import { guideList, guidePage } from './guides-page.ts';
import type { Guide } from './guides.ts';
import { fill, html, type Markup } from './html.ts';
import { overview } from './overview-page.ts';
import type { ServiceCard } from './services.ts';

/** The pages for the links in mails, each a form that the script fills in. */
const accountPages = ['password', 'email', 'deletion'].map((name) => ({
  path: `account/${name}/index.html`,
  title: 'Platform',
  script: 'account',
  style: 'portal',
  body: fill('account'),
}));

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
  return fill('frame', {
    title,
    script,
    style,
    folder: isAccount ? '/account' : '/docs',
    content: isAccount ? body : fill('bar', { navigation: navigation(path), body }),
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
      // Scalar draws it, and the `main` of the page.
      body: fill('reference'),
    },
    {
      path: 'ops/index.html',
      title: 'Operations · Platform',
      script: 'operations',
      style: 'portal',
      // Its script fills it.
      body: fill('operations'),
    },
    ...guidePages(guides),
    ...accountPages,
  ].map((page) => ({ path: page.path, html: frame(page) }));
