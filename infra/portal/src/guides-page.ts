import { addressOf, isDecision, type Guide } from './guides.ts';
import { fill, html, type Markup } from './html.ts';

const search = fill('search');

const isContract = ({ name }: Guide): boolean => name.startsWith('contracts/');
const isGuide = ({ name }: Guide): boolean => !name.includes('/');

const entry = (guide: Guide, current?: Guide): Markup =>
  guide === current
    ? html`<li><a href="${addressOf(guide.name)}" aria-current="page">${guide.title}</a></li>`
    : html`<li><a href="${addressOf(guide.name)}">${guide.title}</a></li>`;

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
export const guidePage = (guide: Guide, guides: readonly Guide[]): Markup =>
  html`<div class="page with-contents">
    <nav class="contents" aria-label="Guides">
      ${search} ${onThisPage(guide)} ${list('Guides', guides.filter(isGuide), guide)}
      ${list('Contracts', guides.filter(isContract), guide)}
      <p><a href="/docs/guides/#decisions">Decisions</a></p>
    </nav>
    <main id="content" class="guide">${guide.body}</main>
  </div>`;

/** The search and the list of all guides and decisions. */
export const guideList = (guides: readonly Guide[]): Markup =>
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
