import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { services, tagVariable } from '@platform/service-list';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { hasHelm } from '../src/chart.ts';
import { inherited } from './env.ts';
import { root } from './service.ts';

const dist = mkdtempSync(join(tmpdir(), 'release-'));
afterAll(() => rmSync(dist, { recursive: true }));
const read = (file: string): string => readFileSync(join(dist, file), 'utf8');
const versionIn = (folder: string): string =>
  (JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as { version: string }).version;

beforeAll(() => {
  if (!hasHelm) return;
  const script = join(root, 'infra/deploy/src/release.ts');
  execFileSync(process.execPath, [script, '--no-images', '--out', dist], {
    // The packages are not built, because their own tests build them in the same folders.
    env: { ...inherited, npm_config_ignore_scripts: 'true' },
    stdio: 'ignore',
  });
});

const expected = {
  chart: `platform-${versionIn('.')}.tgz`,
  client: `platform-client-${versionIn('packages/client')}.tgz`,
  conformance: `platform-wallet-conformance-${versionIn('packages/wallet-conformance')}.tgz`,
};

test.skipIf(!hasHelm)(
  'a release has the chart, both packages, the versions and a checksum of each file',
  () => {
    const files = [...Object.values(expected), 'versions.env', 'versions.yaml'].toSorted();
    expect(globSync('**/*.*', { cwd: dist }).toSorted()).toEqual(files);
    const sums = files.map((file) => {
      const hash = createHash('sha256').update(readFileSync(join(dist, file)));
      return `${hash.digest('hex')}  ${file}\n`;
    });
    expect(read('SHA256SUMS')).toBe(sums.join(''));
    for (const [name, file] of Object.entries({ Chart: expected.chart, package: expected.client }))
      expect(execFileSync('tar', ['-tzf', join(dist, file)], { encoding: 'utf8' })).toMatch(`/${name}.`);
  },
);

test.skipIf(!hasHelm)('a release names the version of each image, for compose and for the chart', () => {
  const versions = services.map(({ name }) => [name, versionIn(`services/${name}`)] as const);
  const gateway = versionIn('infra/gateway');
  const lines = [...versions, ['gateway', gateway] as const].map(
    ([name, version]) => `${tagVariable(name)}=${version}\n`,
  );
  expect(read('versions.env')).toBe(lines.join(''));
  expect(parse(read('versions.yaml'))).toEqual({
    gateway: { tag: gateway },
    services: Object.fromEntries(versions.map(([name, tag]) => [name, { tag }])),
  });
});
