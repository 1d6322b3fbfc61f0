import { offlineParts, offlineVariables, syncDocument } from '@platform/service-kit/openapi-file';
import { createApp } from './app.ts';
import { createContext } from './context.ts';
import { envOf } from './env.ts';

const { document } = createApp(createContext(envOf(offlineVariables), offlineParts()));
await syncDocument(document, new URL('../openapi.json', import.meta.url), process.argv.includes('--write'));
