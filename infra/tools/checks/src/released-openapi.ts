/**
 * Part of `pnpm check`, in the root of the repository: compares the OpenAPI documents with those of the last release (the
 * highest tag v* that HEAD contains). Fails for each change that breaks callers, unless a line that was added to
 * CHANGELOG.md since the release contains the operation and the name of the changed part: `GET /v1/quests` and `title`.
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

/** The OpenAPI document of a removed service. */
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
    const oldDocument = JSON.parse(inRelease(file)) as object;
    const newDocument = JSON.parse(existsSync(file) ? readFileSync(file, 'utf8') : emptyDocument) as object;
    for (const { subject, fact, before, after } of breakingChanges(oldDocument, newDocument)) {
      const words = wordsOf(subject).map((word) => `\`${word}\``);
      if (newLines.some((line) => words.every((word) => line.includes(word)))) continue;
      const change = `${fact} was ${before ?? 'nothing'} in ${release} and is ${after ?? 'missing'}`;
      const advice = `Keep it, or add a line with ${words.join(' and ')} to CHANGELOG.md.`;
      process.stderr.write(`${file}: ${subject}: ${change}. ${advice}\n`);
      process.exitCode = 1;
    }
  }
}
