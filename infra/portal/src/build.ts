import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { build } from 'esbuild';
import { alertTexts, describeServices, readChoices } from './services.ts';
import { readGuides } from './guides.ts';
import { pages } from './pages.ts';
import { createSearchIndex } from './search-index.ts';

const site = resolve(import.meta.dirname, 'site');

/** Scalar's build for browsers: a module and the parts that it loads on demand. */
const scalarFolder = resolve(dirname(fileURLToPath(import.meta.resolve('@scalar/api-reference'))), 'browser');

const isScript = (path: string): boolean => !path.endsWith('.map') && !path.endsWith('standalone.js');

/** Texts; fonts are compressed already. */
const isCompressible = (path: string): boolean => /\.(?:html|css|js|json|svg)$/.test(path);

/** Writes a .gz file beside each text, which nginx sends instead of compressing the text for each request. */
const compress = async (folder: string): Promise<void> => {
  const files = await readdir(folder, { recursive: true });
  await Promise.all(
    files.filter(isCompressible).map(async (file) => {
      const path = join(folder, file);
      await writeFile(`${path}.gz`, await promisify(gzip)(await readFile(path), { level: 9 }));
    }),
  );
};

/**
 * Builds the portal into a folder, which it replaces: pages, scripts, styles and fonts, served at /docs, and its folder
 * `account` at /account.
 */
export const buildPortal = async (out: string): Promise<void> => {
  const [services, guides] = await Promise.all([describeServices(), readGuides()]);
  await rm(out, { recursive: true, force: true });
  // Root may create it, and the workers of nginx must be able to read it.
  await mkdir(join(out, 'assets'), { recursive: true, mode: 0o755 });
  /** Scripts and styles, with the values of the names in `define`. */
  const bundle = (folder: string, entryPoints: string[], define: Record<string, string> = {}) =>
    build({
      absWorkingDir: site,
      entryPoints,
      entryNames: '[name]',
      assetNames: '[name]',
      outdir: join(out, folder),
      bundle: true,
      minify: true,
      format: 'esm',
      splitting: true,
      jsx: 'automatic',
      jsxImportSource: 'preact',
      target: 'es2022',
      loader: { '.woff2': 'file' },
      define,
      external: ['/docs/*'],
      logLevel: 'silent',
    });
  await Promise.all([
    bundle(
      'assets',
      [
        'overview.ts',
        'reference.ts',
        'operations.tsx',
        'guides.ts',
        'styles/portal.css',
        'styles/reference.css',
      ],
      {
        SERVICES: JSON.stringify(services),
        CHOICES: JSON.stringify(await readChoices()),
        ALERT_TEXTS: JSON.stringify(await alertTexts()),
      },
    ),
    // Apart, since everybody may see the account pages, and the portal may be for an inner network.
    bundle('account/assets', ['account.tsx', 'styles/portal.css']),
    cp(scalarFolder, join(out, 'assets/scalar'), { recursive: true, filter: isScript }),
    ...pages(services, guides).map(async ({ path, html }) => {
      await mkdir(join(out, dirname(path)), { recursive: true });
      await writeFile(join(out, path), html);
    }),
    writeFile(
      join(out, 'assets/guides.json'),
      JSON.stringify(createSearchIndex(guides.flatMap(({ sections }) => sections))),
    ),
    ...['', 'account'].map((folder) => cp(join(site, 'icon.svg'), join(out, folder, 'icon.svg'))),
  ]);
  await compress(out);
};
