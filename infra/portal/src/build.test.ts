import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { services } from '@platform/service-list';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPortal } from './build.ts';
import { readGuides } from './guides.ts';
import { fillTemplate, html } from './html.ts';
import { readSearchIndex, wordsOf, type SearchIndex } from './search-index.ts';

const docs = join(import.meta.dirname, '../../../docs');
let out: string;

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'portal-'));
  await buildPortal(out);
});
afterAll(() => rm(out, { recursive: true }));

test('the build contains no credentials and no source maps', async () => {
  const files = await readdir(out, { recursive: true });
  expect(files).not.toContain('demo.json');
  expect(files.filter((file) => file.endsWith('.map'))).toEqual([]);
});

test('no page has inline scripts, styles or event handlers', async () => {
  for (const page of [
    'index.html',
    'reference/index.html',
    'ops/index.html',
    'guides/index.html',
    'guides/security/index.html',
    'account/password/index.html',
  ]) {
    const text = await readFile(join(out, page), 'utf8');
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:|https?:/);
    for (const [, attributes, content] of text.matchAll(/<script([^>]*)>(.*?)<\/script>/gs)) {
      expect(attributes).toMatch(/src="\/(?:docs|account)\/assets\//);
      expect(content).toBe('');
    }
  }
});

test('the public account pages use no files of /docs and do not mention the services', async () => {
  const files = (await readdir(join(out, 'account'), { recursive: true })).filter((file) =>
    /\.(?:html|css|js)$/.test(file),
  );
  expect(files.length).toBeGreaterThan(4);
  for (const file of files)
    expect(await readFile(join(out, 'account', file), 'utf8')).not.toMatch(/\/docs\/|wallet|webhook/i);
});

test('every service of the gateway has a card and a guide', async () => {
  const page = await readFile(join(out, 'index.html'), 'utf8');
  for (const { name } of services) {
    expect(page).toContain(`data-service="${name}"`);
    expect(page).toContain(`href="/docs/guides/${name}/"`);
  }
  expect(page).toContain('Six services');
});

test('every page, script and style has a compressed copy with the same content', async () => {
  const files = (await readdir(out, { recursive: true })).filter((file) => /\.(?:html|css|js)$/.test(file));
  expect(files.length).toBeGreaterThan(5);
  for (const file of files)
    expect(gunzipSync(await readFile(join(out, `${file}.gz`)))).toEqual(await readFile(join(out, file)));
});

test('every guide and decision of docs/ has a page, and links between them lead to existing pages and headings', async () => {
  const names = (await readdir(docs, { recursive: true }))
    .filter((file) => file.endsWith('.md') && !file.endsWith('README.md'))
    .map((file) => `/docs/guides/${file.slice(0, -'.md'.length)}/`);
  const textOf = async (address: string) =>
    readFile(join(out, address.slice('/docs/'.length), 'index.html'), 'utf8');
  const pages = new Map(await Promise.all(names.map(async (name) => [name, await textOf(name)] as const)));
  expect(pages.size).toBeGreaterThan(40);
  const ids = (page: string): string[] => [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
  const targets = new Set(
    [...pages].flatMap(([path, page]) => [path, ...ids(page).map((id) => `${path}#${id}`)]),
  );
  const links = [...pages].flatMap(([path, page]) =>
    [...(page.split('<main')[1] ?? '').matchAll(/<a href="([^"]*)"/g)].map(([, href = '']) =>
      href.startsWith('#') ? path + href : href,
    ),
  );
  const internalLinks = links.filter((href) => !/^https?:/.test(href) && href !== '/docs/guides/');
  expect(internalLinks.length).toBeGreaterThan(20);
  expect(internalLinks.filter((href) => !targets.has(href))).toEqual([]);
});

const searchIndex = async () =>
  readSearchIndex(JSON.parse(await readFile(join(out, 'assets/guides.json'), 'utf8')) as SearchIndex);

test('the search index contains every heading of the guides once', async () => {
  const { sections, sectionsWith } = await searchIndex();
  expect(sections.length).toBeGreaterThan(100);
  expect(new Set(sections.map(({ href }) => href)).size).toBe(sections.length);
  const replay = sections.find(({ heading }) => heading === 'Replaying failed events');
  expect(replay).toMatchObject({
    page: 'Store webhooks',
    href: '/docs/guides/store-webhooks/#replaying-failed-events',
  });
  for (const word of ['the', 'payload', 'is', 'not', 'valid']) expect(sectionsWith(word)).toContain(replay);
});

test('a search finds exactly the sections whose heading or text has a word that contains the text', async () => {
  const { sections, sectionsWith } = await searchIndex();
  const texts = (await readGuides()).flatMap(({ title, sections: all }) =>
    all.map(({ heading, text }) => `${title} ${heading} ${text}`.toLowerCase()),
  );
  const words = [...new Set(texts.flatMap(wordsOf))].filter((_, number) => number % 20 === 0);
  expect(words.length).toBeGreaterThan(100);
  for (const text of [...words, 'a', 'e', 'st', 'tor', 'vers'])
    expect([text, [...sectionsWith(text)].map(({ href }) => href).toSorted()]).toEqual([
      text,
      sections.flatMap(({ href }, number) => (texts[number]?.includes(text) ? [href] : [])).toSorted(),
    ]);
});

test('the search index contains the text of lists and tables without Markdown syntax', async () => {
  const { sections, sectionsWith } = await searchIndex();
  const change = sections.find(({ heading }) => heading === 'Changing a store');
  for (const word of ['clearedcredentials', 'replay', 'provider', 'stores', 'kind'])
    expect(sectionsWith(word)).toContain(change);
});

test('the search index contains the titles of decisions but not their text', async () => {
  const { sections } = await searchIndex();
  const decisions = sections.filter(({ href }) => href.startsWith('/docs/guides/adr/'));
  expect(decisions.length).toBeGreaterThan(40);
  expect(decisions.filter(({ href, start }) => href.includes('#') || start !== '')).toEqual([]);
});

test('the operations page with its first view and the sign-in loads at most 90 kB', async () => {
  const sizes = new Map<string, number>();
  const load = async (name: string): Promise<void> => {
    if (sizes.has(name)) return;
    sizes.set(name, (await readFile(join(out, 'assets', `${name}.gz`))).length);
    const text = await readFile(join(out, 'assets', name), 'utf8');
    for (const [, chunk = ''] of text.matchAll(/(?:import|from)"\.\/([\w-]+\.js)"/g)) await load(chunk);
  };
  await load('operations.js');
  const files = await readdir(join(out, 'assets'));
  // The chunk of oauth4webapi is named after the folder `build` of the package.
  for (const chunk of files.filter((file) => /^(?:traffic|build)-\w+\.js$/.test(file))) await load(chunk);
  await load('portal.css');
  expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(90_000);
});

test('the compressed search index of the guides is at most 40 kB', async () => {
  expect((await readFile(join(out, 'assets/guides.json.gz'))).length).toBeLessThanOrEqual(40_000);
});

test('the build contains the fonts', async () => {
  const sheet = await readFile(join(out, 'assets/portal.css'), 'utf8');
  const addresses = [...sheet.matchAll(/url\(([^)]*)\)/g)].map(([, address]) => address);
  expect(addresses.length).toBeGreaterThan(5);
  for (const address of addresses) expect(address).toMatch(/^"?\.\/[\w-]+\.woff2"?$/);
});

test('html escapes inserted text', () => {
  expect(html`<p title="${'"x'}">${"<b>&'"}</p>`.markup).toBe('<p title="&quot;x">&lt;b&gt;&amp;&#39;</p>');
});

test('fillTemplate throws if a value is missing', () => {
  expect(() => fillTemplate('bar')).toThrow('bar.html needs a value for navigation');
});
