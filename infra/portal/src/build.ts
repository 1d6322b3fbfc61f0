import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { build } from 'esbuild';
import { readAlertTexts, describeServices, readChoices } from './services.ts';
import { readGuides } from './guides.ts';
import { pages } from './pages.ts';
import { createSearchIndex } from './search-index.ts';

const site = resolve(import.meta.dirname, 'site');

/** Folder of Scalar's browser build: a module and the chunks that it loads on demand. */
const scalarFolder = resolve(dirname(fileURLToPath(import.meta.resolve('@scalar/api-reference'))), 'browser');

const isScript = (path: string): boolean => !path.endsWith('.map') && !path.endsWith('standalone.js');

/** Whether a file is a text; fonts are already compressed. */
const isCompressible = (path: string): boolean => /\.(?:html|css|js|json|svg)$/.test(path);

/** Writes a .gz file for each text, so that nginx need not compress it for each request. */
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
 * Builds the portal into a folder, which it replaces: pages, scripts, styles and fonts. The gateway serves it at /docs, and
 * its folder `account` at /account.
 */
export const buildPortal = async (out: string): Promise<void> => {
  const [services, guides] = await Promise.all([describeServices(), readGuides()]);
  await rm(out, { recursive: true, force: true });
  // The workers of nginx must be able to read the folder, even if root creates it.
  await mkdir(join(out, 'assets'), { recursive: true, mode: 0o755 });
  /** Bundles scripts and styles; `define` replaces global names with values. */
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
        ALERT_TEXTS: JSON.stringify(await readAlertTexts()),
      },
    ),
    // Separate from /docs, because the account pages are public and the portal may be only for an inner network.
    bundle('account/assets', ['account.tsx', 'styles/portal.css']),
    cp(scalarFolder, join(out, 'assets/scalar'), { recursive: true, filter: isScript }),
    ...pages(services, guides).map(async ({ path, html }) => {
      await mkdir(join(out, dirname(path)), { recursive: true });
      await writeFile(join(out, path), html);
    }),
    writeFile(join(out, 'assets/guides.json'), JSON.stringify(createSearchIndex(guides))),
    ...['', 'account'].map((folder) => cp(join(site, 'icon.svg'), join(out, folder, 'icon.svg'))),
  ]);
  await compress(out);
};
