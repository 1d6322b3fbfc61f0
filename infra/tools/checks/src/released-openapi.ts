/**
 * Part of `pnpm check`, in the root of the repository: compares the OpenAPI documents with those of the last release (the
 * highest tag v* that HEAD contains). Fails for each change that breaks callers, unless a line of CHANGELOG.md that the
 * release does not have contains its operation and its name: `GET /v1/quests` and `title`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { breakingChanges } from './breaking-changes.ts';

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'safe.directory=*', ...args], { encoding: 'utf8', maxBuffer: 1 << 28 });

/** Words that a line of CHANGELOG.md must contain: the operation and, when only a part of it changed, the part's name. */
const wordsOf = (subject: string): string[] => {
  const [operation = '', ...part] = subject.split(', ');
  return [operation, ...part.flatMap((place) => place.split(/[ .[\]()]/).findLast(Boolean) ?? [])];
};

/** Stands for the OpenAPI document of a removed service. */
const emptyDocument = '{"paths":{}}';

const [release] = git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname').split('\n');
if (!release) {
  process.stdout.write('There is no release yet (no tag v*), so no interface can break.\n');
} else {
  const released = git('ls-tree', '-r', '--name-only', release).split('\n');
  const inRelease = (file: string): string =>
    released.includes(file) ? git('show', `${release}:${file}`) : '';
  const releasedLines = new Set(inRelease('CHANGELOG.md').split('\n'));
  const newLines = readFileSync('CHANGELOG.md', 'utf8')
    .split('\n')
    .filter((line) => !releasedLines.has(line));
  for (const file of released.filter((path) => /^services\/[^/]+\/openapi\.json$/.test(path))) {
    const before = JSON.parse(inRelease(file)) as object;
    const after = JSON.parse(existsSync(file) ? readFileSync(file, 'utf8') : emptyDocument) as object;
    for (const { subject, fact, before: was = 'nothing', after: is = 'missing' } of breakingChanges(
      before,
      after,
    )) {
      const words = wordsOf(subject).map((word) => `\`${word}\``);
      if (newLines.some((line) => words.every((word) => line.includes(word)))) continue;
      process.stderr.write(
        `${file}: ${subject}: ${fact} was ${was} in ${release} and is ${is}. Keep it, or add a line with ${words.join(' and ')} to CHANGELOG.md.\n`,
      );
      process.exitCode = 1;
    }
  }
}
