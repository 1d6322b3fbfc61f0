import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram } from '@platform/program';
import { deployments, services, tagVariable } from '@platform/service-list';
import { stringify } from 'yaml';
import { helm } from './chart.ts';

const root = join(import.meta.dirname, '../../..');
const chart = join(import.meta.dirname, '../chart');

const usage = `release: builds the artifacts of a release into dist/, with the versions of the packages (CONTRIBUTING.md, "Release")
release versions: applies the changesets (next versions and changelogs). Commit them, then run release
  --out FOLDER     the folder to write (dist)
  --registry NAME  prefix of the image names (platform)
  --push           builds the images for amd64 and arm64, and pushes them to the registry; needs docker buildx
  --no-images      builds neither images nor SBOMs; needs no Docker`;

interface Manifest {
  version: string;
  packageManager?: string;
}
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
const { version: release, packageManager = '' } = manifestIn('.');

const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  });

/** Increments the versions of changed packages, and the separate version of the release and its chart. */
const applyChangesets = (): void => {
  if (globSync('.changeset/*.md', { cwd: root }).length === 0)
    throw new Error('There is no changeset in .changeset; add one first.');
  run(join(root, 'node_modules/.bin/changeset'), 'version');
  const [major = '', minor = ''] = release.split('.');
  const next = `${major}.${Number(minor) + 1}.0`;
  for (const [file, before] of [
    [join(root, 'package.json'), `"version": "${release}"`],
    [join(chart, 'Chart.yaml'), `\nversion: ${release}\n`],
  ] as const) {
    const text = readFileSync(file, 'utf8');
    if (!text.includes(before)) throw new Error(`${file} does not have version ${release}`);
    writeFileSync(file, text.replace(before, before.replace(release, next)));
  }
};

interface Image {
  name: string;
  version: string;
  /** Arguments of `docker build`. */
  args: readonly string[];
}

const buildArgs = (values: Record<string, string>): string[] =>
  Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);

/** Lists all images. The images of the gateway share one version. */
const images = (): Image[] => {
  const { version } = manifestIn('infra/gateway');
  const helper = (name: string, folder: string, title: string): Image => ({
    name: title,
    version,
    args: buildArgs({ SERVICE: name, FOLDER: folder, TITLE: title, PROBE_PORT: '' }),
  });
  return [
    ...services.map(({ name }) => ({
      name,
      version: manifestIn(`services/${name}`).version,
      args: buildArgs({ SERVICE: name }),
    })),
    helper('@platform/gateway-telemetry', 'infra/gateway-telemetry', 'gateway-telemetry'),
    helper('@platform/gateway', 'infra/gateway', 'gateway-config'),
    {
      name: 'gateway',
      version,
      args: ['--target', 'gateway', ...buildArgs({ SERVICE: '@platform/portal' })],
    },
  ];
};

/** Builds an image and writes it and its SBOM into `dist`; with `push` it pushes the image to the registry instead. */
const buildImage = ({ name, version, args }: Image, dist: string, registry: string, push: boolean): void => {
  const tag = `${registry}/${name}:${version}`;
  const labels = buildArgs({
    VERSION: version,
    REVISION: run('git', 'rev-parse', 'HEAD').trim(),
    CREATED: new Date().toISOString(),
  });
  const platforms = push ? ['buildx', 'build', '--platform', 'linux/amd64,linux/arm64', '--push'] : ['build'];
  run('docker', ...platforms, '-f', 'infra/deploy/Dockerfile', ...args, ...labels, '-t', tag, '.');
  if (push) return;
  const file = (folder: string, extension: string): string =>
    join(dist, folder, `${name}-${version}${extension}`);
  run('docker', 'save', '--output', file('images', '.tar'), tag);
  const sbom = run('docker', 'run', '--rm', '--entrypoint', 'cat', tag, '/repo/sbom.cdx.json');
  writeFileSync(file('sbom', '.cdx.json'), sbom);
};

/** Writes the version of each image in this release, for compose and for the chart. */
const writeVersions = (dist: string): void => {
  const versions = new Map(images().map(({ name, version }) => [name, version]));
  const gateway = versions.get('gateway');
  const lines = [...services.map(({ name }) => name), 'gateway'].map(
    (name) => `${tagVariable(name)}=${versions.get(name)}\n`,
  );
  writeFileSync(join(dist, 'versions.env'), lines.join(''));
  const tags = deployments.map(({ name, image }) => [name, { tag: versions.get(image) }] as const);
  const values = { gateway: { tag: gateway }, services: Object.fromEntries(tags) };
  writeFileSync(join(dist, 'versions.yaml'), stringify(values));
};

/** Packs the artifacts that others install: the chart, the client and the wallet conformance tests. */
const packPackages = async (dist: string): Promise<void> => {
  await helm('package', chart, '--destination', dist, '--app-version', release);
  for (const name of ['@platform/client', '@platform/wallet-conformance'])
    run('npx', '-y', packageManager, '--filter', name, 'pack', '--pack-destination', dist);
};

const writeChecksums = (dist: string): void => {
  const files = globSync('**/*', { cwd: dist, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dist, join(entry.parentPath, entry.name)));
  const lines = files.toSorted().map((file) => {
    const hash = createHash('sha256')
      .update(readFileSync(join(dist, file)))
      .digest('hex');
    return `${hash}  ${file}\n`;
  });
  writeFileSync(join(dist, 'SHA256SUMS'), lines.join(''));
};

await runProgram(usage, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      out: { type: 'string', default: join(root, 'dist') },
      registry: { type: 'string', default: 'platform' },
      push: { type: 'boolean', default: false },
      'no-images': { type: 'boolean', default: false },
    },
  });
  if (positionals[0] === 'versions') return applyChangesets();
  const { out: dist, registry } = values;
  const imagesToBuild = values['no-images'] ? [] : images();
  if (imagesToBuild.length > 0 && run('git', 'status', '--porcelain') !== '')
    throw new Error('Commit your changes first: the labels of images contain the commit.');
  if (values.push) {
    for (const image of imagesToBuild) buildImage(image, dist, registry, true);
    return;
  }
  rmSync(dist, { recursive: true, force: true });
  for (const folder of ['images', 'sbom']) mkdirSync(join(dist, folder), { recursive: true });
  for (const image of imagesToBuild) buildImage(image, dist, registry, false);
  writeVersions(dist);
  await packPackages(dist);
  writeChecksums(dist);
});
