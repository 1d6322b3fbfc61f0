/** `node test/simulate-history.ts FILE CALLS`: writes histories of a correct wallet, for `check`. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { simulate } from './simulate.ts';

const [file, calls] = process.argv.slice(2);
if (file === undefined || calls === undefined) throw new Error('usage: simulate-history FILE CALLS');

const out = createWriteStream(file);
let remaining = Number(calls);
for (let seed = 0; remaining > 0; seed++) {
  const recorded = await simulate({ seed, seconds: 5, player: `player-${seed}` });
  remaining -= recorded.length;
  if (!out.write(recorded.map((call) => `${JSON.stringify(call)}\n`).join(''))) await once(out, 'drain');
}
out.end();
await once(out, 'close');
