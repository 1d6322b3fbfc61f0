// Writes a log line (JSON) for each OpenTelemetry module when it is loaded.
import { registerHooks } from 'node:module';

registerHooks({
  load: (url, context, next) => {
    if (url.includes('@opentelemetry')) process.stdout.write(`${JSON.stringify({ loaded: url })}\n`);
    return next(url, context);
  },
});
