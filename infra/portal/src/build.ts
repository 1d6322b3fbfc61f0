import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { pages } from './pages.ts';
import { describeServices, eventFilters } from './services.ts';

const site = resolve(import.meta.dirname, 'site');

/** Scalar's build for browsers: a module and the parts that it loads on demand. */
const scalarFolder = resolve(dirname(fileURLToPath(import.meta.resolve('@scalar/api-reference'))), 'browser');

const isScript = (path: string): boolean => !path.endsWith('.map') && !path.endsWith('standalone.js');

/**
 * Builds the portal into a folder, which it replaces: pages, scripts, styles and fonts, served at /docs.
 */
export const buildPortal = async (out: string): Promise<void> => {
  const services = await describeServices();
  await rm(out, { recursive: true, force: true });
  // Root may create it, and the workers of nginx must be able to read it.
  await mkdir(join(out, 'assets'), { recursive: true, mode: 0o755 });
  await Promise.all([
    build({
      absWorkingDir: site,
      entryPoints: [
        'overview.ts',
        'reference.ts',
        'operations.ts',
        'styles/portal.css',
        'styles/reference.css',
      ],
      entryNames: '[name]',
      assetNames: '[name]',
      outdir: join(out, 'assets'),
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      loader: { '.woff2': 'file' },
      define: { SERVICES: JSON.stringify(services), EVENT_FILTERS: JSON.stringify(await eventFilters()) },
      external: ['/docs/*'],
      logLevel: 'silent',
    }),
    cp(scalarFolder, join(out, 'assets/scalar'), { recursive: true, filter: isScript }),
    ...pages(services).map(async ({ path, html }) => {
      await mkdir(join(out, dirname(path)), { recursive: true });
      await writeFile(join(out, path), html);
    }),
    cp(join(site, 'icon.svg'), join(out, 'icon.svg')),
  ]);
};
