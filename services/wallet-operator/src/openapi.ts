import { offlineParts, offlineVariables, syncDocument } from '@platform/service-kit/openapi-file';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { envOf } from './env.ts';

const env = envOf({ ...offlineVariables, HMAC_SECRET: '0'.repeat(64) });
await using context = createContext(env, offlineParts());
const { document } = createApp(context);
await syncDocument(document, new URL('../openapi.json', import.meta.url), process.argv.includes('--write'));
