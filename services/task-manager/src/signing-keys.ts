import { text } from 'node:stream/consumers';
import { runProgram, UsageError } from '@platform/program';
import { parseSigningKeys, rotationSteps } from './sessions/signing-keys.ts';

const usage = `signing-keys add|use|retire <auth-signing-key >auth-signing-key.new
A step in the rotation of AUTH_SIGNING_KEY: reads its value from the standard input and writes the new one.`;

await runProgram(usage, async ([step = '']) => {
  const take = rotationSteps[step];
  if (take === undefined) throw new UsageError('name one step: add, use or retire');
  const input = await text(process.stdin);
  let keys;
  try {
    keys = take(parseSigningKeys(input));
  } catch {
    // The error of the parser quotes its input.
    throw new Error('the standard input must be a JWK or a set of them, {"keys": […]}');
  }
  process.stdout.write(`${JSON.stringify({ keys })}\n`);
});
