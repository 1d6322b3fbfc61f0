/**
 * `pnpm --filter wallet-operator certify --url … --secret … --player … [--currency EUR] [--game dice-alpha]
 * [--signature timestamp+path+body] [--junit file]`: runs the conformance kit against any operator backend.
 * Exit code 1 when it does not keep the contract, 2 when the kit was called wrongly.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { junit, line, summary } from './certify/report.ts';
import { certify } from './certify/run.ts';

const usage = `certify --url <callback url> --secret <hmac secret> --player <id of a player with 100.00 or more>
  --currency <code>     currency of the player's wallet (EUR)
  --game <code>         a game that is enabled (dice-alpha)
  --signature <string>  timestamp+path+body or timestamp+body
  --junit <file>        also write the results as JUnit XML\n`;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const main = async (): Promise<number> => {
  const { values } = parseArgs({
    // pnpm hands a "--" of its caller on.
    args: process.argv.slice(2).filter((argument) => argument !== '--'),
    options: {
      url: { type: 'string' },
      secret: { type: 'string' },
      player: { type: 'string' },
      currency: { type: 'string', default: 'EUR' },
      game: { type: 'string', default: 'dice-alpha' },
      signature: { type: 'string', default: 'timestamp+path+body' },
      junit: { type: 'string' },
    },
  });
  const { url, secret, player, currency, game, signature } = values;
  if (!url || !secret || !player || !URL.canParse(url))
    throw new Error('--url, --secret and --player are needed');
  if (signature !== 'timestamp+path+body' && signature !== 'timestamp+body')
    throw new Error('--signature is timestamp+path+body or timestamp+body');
  let group = '';
  const results = await certify(
    { url, secret, player, currency, game, signatureString: signature },
    (result) => {
      if (result.group !== group) say(`\n${result.group}`);
      ({ group } = result);
      say(line(result));
    },
  );
  say(`\n${summary(results)}`);
  if (values.junit !== undefined) await writeFile(values.junit, junit(results));
  return results.some(({ failure }) => failure !== undefined) ? 1 : 0;
};

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  return 2;
});
