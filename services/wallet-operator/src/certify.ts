/**
 * `pnpm --filter wallet-operator certify --url … --player … [more]`: runs the conformance kit against any
 * operator backend. Exit code 1 when it does not keep the contract, 2 when the kit was called wrongly or could not judge
 * every history.
 */
import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { readCurrency } from './certify/currency.ts';
import { junit, line, summary } from './certify/report.ts';
import { certify } from './certify/run.ts';
import { callersFile, localWallet } from './env.ts';
import { exitCodeOf, reportVerdict } from './history/report.ts';
import { checkHistory } from './history/run.ts';

const usage = `certify --url <callback url> --player <id of a player with 100.00 or more>
  --secret <secret>     of the HMAC (the variable HMAC_SECRET, else that of the stack that runs here)
  --currency <code>     currency of the player's wallet (found out by trying)
  --other-player <id>   a second player with 1.00 or more, for the cases that need two
  --transaction-ids <scope>  global (default), or player where ids are unique for each player only
  --game <code>         a game that is enabled (dice-alpha)
  --signature <string>  timestamp+path+body or timestamp+body
  --junit <file>        also write the results as JUnit XML
  --history <file>      instead: concurrent histories of callbacks, recorded in the file and judged
  --players <ids>       more players for --history, separated by commas
  --seconds <n>         how long to record (10)
  --seed <n>            repeats the choices of an earlier recording\n`;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    // pnpm passes the "--" of its caller on.
    args: process.argv.slice(2).filter((argument) => argument !== '--'),
    options: {
      url: { type: 'string' },
      secret: { type: 'string', default: localWallet().secret ?? '' },
      player: { type: 'string' },
      currency: { type: 'string' },
      'other-player': { type: 'string' },
      'transaction-ids': { type: 'string', default: 'global' },
      game: { type: 'string', default: 'dice-alpha' },
      signature: { type: 'string', default: 'timestamp+path+body' },
      junit: { type: 'string' },
      history: { type: 'string' },
      players: { type: 'string', default: '' },
      seconds: { type: 'string', default: '10' },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    },
  });
  const { url, secret, player, game, signature, 'transaction-ids': transactionIds } = values;
  if (!url || !secret || !player || !URL.canParse(url))
    throw new Error('--url, --player and --secret (or HMAC_SECRET) are needed');
  if (signature !== 'timestamp+path+body' && signature !== 'timestamp+body')
    throw new Error('--signature is timestamp+path+body or timestamp+body');
  if (transactionIds !== 'global' && transactionIds !== 'player')
    throw new Error('--transaction-ids is global or player');
  const backend = {
    url,
    secret,
    player,
    game,
    signatureString: signature,
    otherPlayer: values['other-player'],
    transactionIds,
  } as const;
  const currency = values.currency ?? (await readCurrency(backend));
  if (values.history !== undefined) {
    const { seed, seconds } = values;
    const file = callersFile(values.history);
    if (!/^\d{1,5}$/.test(seconds) || !/^\d{1,10}$/.test(seed))
      throw new Error('--seconds and --seed are whole numbers');
    say(`seed ${seed}`);
    const players = [player, ...values.players.split(',').filter((one) => one !== '')];
    const target = { ...backend, currency };
    const verdict = await checkHistory({
      target,
      players,
      file,
      seconds: Number(seconds),
      seed: Number(seed),
    });
    say(await reportVerdict(verdict, file));
    return exitCodeOf(verdict);
  }
  let group = '';
  const results = await certify({ ...backend, currency }, (result) => {
    if (result.group !== group) say(`\n${result.group}`);
    ({ group } = result);
    say(line(result));
  });
  say(`\n${summary(results)}`);
  if (values.junit !== undefined) await writeFile(callersFile(values.junit), junit(results));
  return results.some(({ failure }) => failure !== undefined) ? 1 : 0;
};

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  return 2;
});
