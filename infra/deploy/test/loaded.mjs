// Says of each module when it is loaded, in the form of a line of the log.
import { registerHooks } from 'node:module';

registerHooks({
  load: (url, context, next) => {
    if (url.includes('@opentelemetry')) process.stdout.write(`${JSON.stringify({ loaded: url })}\n`);
    return next(url, context);
  },
});
