import { UsageError } from '@platform/program';
import { writeFile } from 'node:fs/promises';
import { certify, junitXml, resultLine, summary, type Result } from '../certify/run.ts';
import { say } from '@platform/program/terminal';
import { defineCommand, parseWholeNumber } from './command.ts';
import { readTarget, targetOptions, targetUsage } from './target.ts';

const usage = `certify --url <url> --player <id of a player with 100.00 or more>: tests every promise of the contract
${targetUsage}  --other-player <id>    a second player with 1.00 or more, for the cases that need two
  --transaction-ids <scope>  global (default), or player if transaction ids are unique per player only
  --long                 also tests what the wallet must remember after a pause of 90 s
  --within <seconds>     time limit; cases that have not finished by then fail (600)
  --junit <file>         also writes the results as JUnit XML
`;

/** The pause of `--long`. */
const longPauseSeconds = 90;

/** Resolves with exit code 1 when the wallet does not keep the contract. */
export const certifyCommand = defineCommand({
  usage,
  options: {
    ...targetOptions,
    player: { type: 'string' },
    'other-player': { type: 'string' },
    'transaction-ids': { type: 'string', default: 'global' },
    long: { type: 'boolean', default: false },
    within: { type: 'string', default: '600' },
    junit: { type: 'string' },
  },
  run: async (values) => {
    const { 'transaction-ids': transactionIds, 'other-player': otherPlayer } = values;
    if (transactionIds !== 'global' && transactionIds !== 'player')
      throw new UsageError('--transaction-ids must be global or player');
    const deadline = AbortSignal.timeout(parseWholeNumber(values.within, 'within') * 1000);
    const target = {
      ...(await readTarget(values, values.player, deadline)),
      otherPlayer,
      transactionIds,
    } as const;
    let group = '';
    const onResult = (result: Result): void => {
      if (result.group !== group) say(`\n${result.group}`);
      ({ group } = result);
      say(resultLine(result));
    };
    const results = await certify(target, onResult, values.long ? longPauseSeconds : undefined);
    say(`\n${summary(results)}`);
    if (values.junit !== undefined) await writeFile(values.junit, junitXml(results));
    return results.some(({ failure }) => failure !== undefined) ? 1 : 0;
  },
});
