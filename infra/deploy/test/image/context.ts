import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../service.ts';

interface Rule {
  matches: RegExp;
  ignored: boolean;
}

/** `**` is any number of folders, `*` anything within one name; a rule holds for all below what it names. */
const ruleOf = (line: string): Rule => {
  const ignored = !line.startsWith('!');
  const pattern = (ignored ? line : line.slice(1))
    .replaceAll('.', String.raw`\.`)
    .replaceAll('**/', '\0')
    .replaceAll('*', '[^/]*')
    .replaceAll('\0', '(?:.*/)?');
  return { matches: new RegExp(`^${pattern}(?:/|$)`), ignored };
};

/** Which paths are no part of the build context; the last rule that matches decides. */
export const dockerignore = (text: string): ((path: string) => boolean) => {
  const rules = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(ruleOf);
  return (path) => rules.findLast(({ matches }) => matches.test(path))?.ignored ?? false;
};

/** Paths of the build context: what git knows or would, less what is ignored. */
export const contextPaths = (): string[] => {
  const ignored = dockerignore(readFileSync(join(root, 'infra/deploy/Dockerfile.dockerignore'), 'utf8'));
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed.split('\n').filter((path) => path !== '' && !ignored(path) && existsSync(join(root, path)));
};

/** Copies a folder of the build context, `.` for all of it, or one file, into a folder. */
export const copyContext = (source: string, to: string): void => {
  const folder = source === '.' ? '' : source;
  for (const path of contextPaths().filter((one) => one.startsWith(folder)))
    cpSync(join(root, path), join(to, path === folder ? basename(path) : path.slice(folder.length)));
};
