import { text } from 'node:stream/consumers';
import { runProgram, UsageError } from '@platform/program';
import { parseSigningKeys, rotationSteps } from './sessions/signing-keys.ts';

const usage = `signing-keys add|use|retire <auth-signing-key >auth-signing-key.new
Runs a step of the rotation of AUTH_SIGNING_KEY: reads its value from standard input and writes the new value to standard output.`;

await runProgram(usage, async ([step = '']) => {
  const rotate = rotationSteps[step];
  if (rotate === undefined) throw new UsageError('name one step: add, use or retire');
  const input = await text(process.stdin);
  let keys;
  try {
    keys = rotate(parseSigningKeys(input));
  } catch {
    // Drops the error of the parser, which quotes the secret input.
    throw new Error('the standard input must be a JWK or a set of them, {"keys": […]}');
  }
  process.stdout.write(`${JSON.stringify({ keys })}\n`);
});
