import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inherited } from './env.ts';
import { root } from './service.ts';

const files = ['compose.yaml', 'chart/values.yaml', 'observability/prometheus.yaml', 'examples/secrets.yaml'];

/** Copies the files with generated sections into a temporary folder. */
const copyFiles = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'generated-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of files) cpSync(join(root, 'infra/deploy', file), join(folder, file));
  return folder;
};
const generate = (folder: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'infra/deploy/src/generate.ts'), '--folder', folder, ...args], {
    env: inherited,
    encoding: 'utf8',
  });

test.each([
  ['compose.yaml', 'DATABASE_POOL: 10', 'DATABASE_POOL: 11'],
  ['chart/values.yaml', 'min: 3, max: 3', 'min: 3, max: 4'],
  ['observability/prometheus.yaml', '          - consignments\n', ''],
  ['examples/secrets.yaml', '  HMAC_SECRET: REPLACE-with-openssl-rand-hex-32\n', ''],
])(
  'the check names %s if a section differs from services.yaml, and generate corrects it',
  (file, generated, changed) => {
    const folder = copyFiles();
    expect(generate(folder, '--check')).toMatchObject({ status: 0, stderr: '' });
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    expect(text).toContain(generated);
    writeFileSync(path, text.replace(generated, changed));
    const { status, stderr } = generate(folder, '--check');
    expect(stderr).toContain(`infra/deploy/${file} differs from services.yaml.`);
    expect(status).toBe(1);
    generate(folder);
    expect(generate(folder, '--check')).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(path, 'utf8')).toContain(generated);
  },
);
