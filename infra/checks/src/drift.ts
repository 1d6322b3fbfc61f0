/**
 * `node drift.ts`, in a service's folder: fails when src/db/tables.ts says something that the
 * committed migrations do not. drizzle-kit is asked for the next migration, in a copy.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const copy = mkdtempSync(join(tmpdir(), 'drift-'));
try {
  cpSync('migrations', copy, { recursive: true });
  const before = readdirSync(copy).length;
  execFileSync(
    'drizzle-kit',
    ['generate', '--dialect=postgresql', '--schema=./src/db/tables.ts', `--out=${copy}`, '--name=drift'],
    { stdio: 'pipe' },
  );
  if (readdirSync(copy).length !== before) {
    process.stderr.write('src/db/tables.ts has changed without a migration; run migrations:generate.\n');
    process.exitCode = 1;
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
