import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkSync } from 'recheck';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { z } from 'zod';

interface Expression {
  /** `file:line`. */
  place: string;
  /** Undefined when it is computed at run time. */
  source: string | undefined;
  flags: string;
}

/** Files whose computed expressions are accepted, with the reason. */
const exempt: Record<string, string> = {
  'packages/service-kit/src/http/find-route.ts':
    'path templates; each parameter is [^/?#%]+ between literal text',
};

const root = join(import.meta.dirname, '../../../..');

const filesInGit = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter(Boolean);

/** Text of a string literal; '' without an argument, undefined for any other expression. */
const literalText = (node: ts.Expression | undefined): string | undefined => {
  if (node === undefined) return '';
  return ts.isStringLiteralLike(node) ? node.text : undefined;
};

const isRegExpCall = (node: ts.Node): node is ts.NewExpression | ts.CallExpression =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp';

/** The regular expressions of a TypeScript file: literals and calls of RegExp. */
const expressionsIn = (file: string): Expression[] => {
  const tree = ts.createSourceFile(
    file,
    readFileSync(join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const expressions: Expression[] = [];
  const visit = (node: ts.Node): void => {
    const place = `${file}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      expressions.push({ place, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
    } else if (isRegExpCall(node) && !(file in exempt)) {
      const [source, flags] = node.arguments ?? [];
      expressions.push({ place, source: literalText(source), flags: literalText(flags) ?? '' });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return expressions;
};

/** The patterns in an OpenAPI document, including those of zod's string formats. */
const patternsIn = (file: string): Expression[] => {
  const expressions: Expression[] = [];
  JSON.parse(readFileSync(join(root, file), 'utf8'), (key, value: unknown) => {
    if (key === 'pattern' && typeof value === 'string')
      expressions.push({ place: file, source: value, flags: '' });
    return value;
  });
  return expressions;
};

/** Every regular expression in source files and OpenAPI documents, except tests and development tools. */
const allExpressions = (): Expression[] => {
  const excluded = /\.test\.ts$|^infra\/tools\/|\/(?:test|fixtures|generated|template)\//;
  const sources = filesInGit('*.ts').filter((file) => !excluded.test(file));
  return [...sources.flatMap(expressionsIn), ...filesInGit('services/*/openapi.json').flatMap(patternsIn)];
};

/**
 * Returns one line, with place and reason, for each expression that is not proven to run in linear time. The proof is by
 * automata theory, which does not cover lookarounds and back references, so these are rejected, too.
 */
const faultsOf = (expressions: readonly Expression[]): string[] => {
  const verdicts = new Map<string, string>();
  const verdictOf = (source: string, flags: string): string => {
    const key = `/${source}/${flags}`;
    const cached = verdicts.get(key);
    if (cached !== undefined) return cached;
    // recheck does not support d, g and v, which do not affect the time.
    const result = checkSync(source, flags.replaceAll(/[dgv]/g, ''), {
      checker: 'automaton',
      timeout: 120_000,
    });
    const reason = result.status === 'vulnerable' ? result.complexity.summary : result.status;
    const verdict = result.status === 'safe' ? '' : `${key} is not proven linear: ${reason}`;
    verdicts.set(key, verdict);
    return verdict;
  };
  return expressions.flatMap(({ place, source, flags }) => {
    if (source === undefined)
      return [`${place} is computed at run time and can't be checked; write a literal`];
    const verdict = verdictOf(source, flags);
    return verdict === '' ? [] : [`${place} ${verdict}`];
  });
};

test('a regular expression that is quadratic, exponential, unprovable or computed is reported', () => {
  const place = 'infra/tools/checks/fixtures/regular-expressions.ts';
  expect(faultsOf(expressionsIn(place))).toEqual([
    `${place}:2 /\\s+$/ is not proven linear: 2nd degree polynomial`,
    `${place}:3 /^(a+)+$/ is not proven linear: exponential`,
    `${place}:4 /;\\s*charset\\s*=(?!utf-8)/ is not proven linear: unknown`,
    `${place}:5 is computed at run time and can't be checked; write a literal`,
  ]);
});

/** The formats of zod by which the services validate input; not all of them are in an OpenAPI document. */
const formats = {
  date: z.iso.date(),
  dateTime: z.iso.datetime({ offset: true }),
  dateTimeToTheMinute: z.iso.datetime({ offset: true, precision: -1 }),
  email: z.email(),
  guid: z.guid(),
  uuid: z.uuid(),
};

test('every regular expression of the source, and every format of zod in use, runs in linear time', () => {
  const sourceExpressions = allExpressions();
  const zodExpressions = Object.entries(formats).map(([name, { _zod }]) => ({
    place: `zod's ${name}`,
    source: _zod.def.pattern?.source,
    flags: _zod.def.pattern?.flags ?? '',
  }));
  expect(sourceExpressions.length).toBeGreaterThan(200);
  expect(faultsOf([...sourceExpressions, ...zodExpressions])).toEqual([]);
}, 600_000);
